package dev.holdfast;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What the library logs while this is open. */
final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  /** Names what is logged when the database is away, for a test that must be the only one. */
  static final String OF_OUTAGES = "the log of outages";

  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.holdfast");
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  CapturedLog() {
    start();
    // Whatever the configuration of whoever runs these tests has found first.
    logger.setLevel(Level.INFO);
    logger.addAppender(this);
  }

  @Override
  protected void append(ILoggingEvent event) {
    events.add(event);
  }

  List<String> lines(Level level, String part) {
    return events.stream()
        .filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.contains(part))
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(this);
  }
}
