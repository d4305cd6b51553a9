package dev.holdfast.testkit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What is logged while this is open. */
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  /**
   * Names what is logged when the database is unavailable, for a test that must be the only one.
   */
  public static final String OF_OUTAGES = "the log of outages";

  private static final String OURS = "dev.holdfast";

  /** Tests run at the same time: the last one that listens to a logger puts its level back. */
  private static final Map<Logger, Listeners> OPEN = new HashMap<>();

  private record Listeners(int count, @Nullable Level before) {}

  private final Logger logger;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  private CapturedLog(String name, Level level) {
    logger = (Logger) LoggerFactory.getLogger(name);
    start();
    synchronized (OPEN) {
      Listeners others = OPEN.getOrDefault(logger, new Listeners(0, logger.getLevel()));
      OPEN.put(logger, new Listeners(others.count() + 1, others.before()));
      // Whatever the configuration of whoever runs these tests has found first.
      if (others.count() == 0 || !logger.isEnabledFor(level)) {
        logger.setLevel(level);
      }
    }
    logger.addAppender(this);
  }

  /** By all of Holdfast. */
  public CapturedLog() {
    this(OURS, Level.INFO);
  }

  public static CapturedLog of(Class<?> type) {
    return of(type.getName());
  }

  public static CapturedLog of(String logger) {
    return new CapturedLog(logger, Level.INFO);
  }

  /** By all of Holdfast, however little it matters. */
  public static CapturedLog ofEverything() {
    return new CapturedLog(OURS, Level.TRACE);
  }

  /** By the pool and the driver as well. */
  public static CapturedLog ofAll() {
    return of(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }

  @Override
  protected void append(ILoggingEvent event) {
    events.add(event);
  }

  public List<String> lines() {
    return events.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Those of just this level. */
  public List<String> lines(Level level) {
    return lines(level, "");
  }

  public List<String> lines(Level level, String part) {
    return events.stream()
        .filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.contains(part))
        .toList();
  }

  /** All of this level and above, with who said it. */
  public List<String> linesFrom(Level least) {
    return events.stream()
        .filter(event -> event.getLevel().isGreaterOrEqual(least))
        .map(event -> event.getLoggerName() + ": " + event.getFormattedMessage())
        .toList();
  }

  /** Everything, stack traces included. */
  public String text() {
    return events.stream().map(CapturedLog::text).collect(Collectors.joining("\n"));
  }

  private static String text(ILoggingEvent event) {
    return event.getThrowableProxy() == null
        ? event.getFormattedMessage()
        : event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy());
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    synchronized (OPEN) {
      Listeners all = Objects.requireNonNull(OPEN.remove(logger));
      if (all.count() > 1) {
        OPEN.put(logger, new Listeners(all.count() - 1, all.before()));
      } else {
        logger.setLevel(all.before());
      }
    }
  }
}
