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

  private final Logger logger;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  CapturedLog() {
    this("dev.holdfast");
  }

  private CapturedLog(String name) {
    logger = (Logger) LoggerFactory.getLogger(name);
    start();
    // Whatever the configuration of whoever runs these tests has found first.
    logger.setLevel(Level.INFO);
    logger.addAppender(this);
  }

  /** The pool and the driver included. */
  static CapturedLog ofEverybody() {
    return new CapturedLog(org.slf4j.Logger.ROOT_LOGGER_NAME);
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

  /** All of this level and above, with who said it. */
  List<String> lines(Level least) {
    return events.stream()
        .filter(event -> event.getLevel().isGreaterOrEqual(least))
        .map(event -> event.getLoggerName() + ": " + event.getFormattedMessage())
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(this);
  }
}
