package dev.holdfast.app.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import dev.holdfast.app.config.Setting;
import dev.holdfast.app.config.Settings;
import java.util.List;
import java.util.Locale;
import org.slf4j.LoggerFactory;

/** Logs go to standard error, as lines for people or JSON for programs; answers to standard out. */
public final class Logs {
  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0}: %msg%n";

  private Logs() {}

  /** Until the settings are known, and for commands that need none: the JDK logs its own end. */
  public static void quiet() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
  }

  public static String level(Settings settings) {
    return oneOf(settings, Setting.LOG_LEVEL, List.of("error", "warn", "info", "debug"));
  }

  public static String format(Settings settings) {
    return oneOf(settings, Setting.LOG_FORMAT, List.of("text", "json"));
  }

  private static String oneOf(Settings settings, Setting setting, List<String> words) {
    String word = settings.text(setting).strip().toLowerCase(Locale.ROOT);
    if (!words.contains(word)) {
      throw settings.wrong(setting, "one of " + String.join(", ", words));
    }
    return word;
  }

  public static void configure(Settings settings) {
    String level = level(settings);
    String format = format(settings);
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    // Not a reset of everything: until levels are set anew it would let threads log at debug.
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.detachAndStopAllAppenders();
    Encoder<ILoggingEvent> encoder = format.equals("json") ? json() : text(context);
    encoder.setContext(context);
    encoder.start();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setContext(context);
    console.setTarget("System.err");
    console.setEncoder(encoder);
    console.start();
    root.addAppender(console);
    context.getLogger("dev.holdfast").setLevel(Level.toLevel(level));
    // These report a lost connection with stack traces; our loops and commands say it in a line.
    context.getLogger("com.zaxxer.hikari").setLevel(Level.ERROR);
    context.getLogger("org.postgresql").setLevel(Level.OFF);
    context.getLogger("org.flywaydb").setLevel(Level.OFF);
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
}
