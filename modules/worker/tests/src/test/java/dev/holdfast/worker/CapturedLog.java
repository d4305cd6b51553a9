package dev.holdfast.worker;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What a class logs while this is open. */
final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Logger logger;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  CapturedLog(Class<?> of) {
    logger = (Logger) LoggerFactory.getLogger(of);
    start();
    logger.addAppender(this);
  }

  @Override
  protected void append(ILoggingEvent event) {
    events.add(event);
  }

  List<String> lines(Level level) {
    return events.stream()
        .filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(this);
  }
}
