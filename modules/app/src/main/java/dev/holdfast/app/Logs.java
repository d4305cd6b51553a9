package dev.holdfast.app;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.util.Locale;
import java.util.Set;
import org.slf4j.LoggerFactory;

/** Logs go to standard error, as lines for people or JSON for programs; answers to standard out. */
final class Logs {
  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0}: %msg%n";
  private static final Set<String> LEVELS = Set.of("error", "warn", "info", "debug");

  private Logs() {}

  /** Until the settings are known, and for commands that need none: the JDK logs its own end. */
  static void quiet() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
  }

  static void configure(Settings settings) {
    String level = settings.text(Setting.LOG_LEVEL).toLowerCase(Locale.ROOT);
    String format = settings.text(Setting.LOG_FORMAT).toLowerCase(Locale.ROOT);
    if (!LEVELS.contains(level)) {
      throw wrong(Setting.LOG_LEVEL, level, "error, warn, info or debug");
    }
    if (!format.equals("text") && !format.equals("json")) {
      throw wrong(Setting.LOG_FORMAT, format, "text or json");
    }
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    Encoder<ILoggingEvent> encoder = format.equals("json") ? json() : text(context);
    encoder.setContext(context);
    encoder.start();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setContext(context);
    console.setTarget("System.err");
    console.setEncoder(encoder);
    console.start();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.addAppender(console);
    context.getLogger("dev.holdfast").setLevel(Level.toLevel(level));
    // These report each lost connection with a stack trace; our loops say it in a line.
    context.getLogger("com.zaxxer.hikari").setLevel(Level.ERROR);
    context.getLogger("org.postgresql").setLevel(Level.OFF);
    context.getLogger("org.flywaydb").setLevel(Level.WARN);
    // Calls it an error, with a trace, when somebody connects while the server stops.
    context.getLogger("io.helidon.webserver.ServerListener").setLevel(Level.OFF);
  }

  private static JsonEncoder json() {
    JsonEncoder encoder = new JsonEncoder();
    encoder.setWithFormattedMessage(true);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    return encoder;
  }

  private static PatternLayoutEncoder text(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(PATTERN);
    return encoder;
  }

  private static CommandException wrong(Setting setting, String value, String expected) {
    return new CommandException(
        ExitCode.CONFIGURATION,
        "%s is '%s': %s is expected".formatted(setting.variable(), value, expected));
  }
}
