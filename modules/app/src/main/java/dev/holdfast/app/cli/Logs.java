package dev.holdfast.app.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import dev.holdfast.app.config.LogConfig;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.model.value.Text;
import java.nio.charset.StandardCharsets;
import org.slf4j.LoggerFactory;

/** Logs go to standard error, as text or JSON; the output of commands goes to standard out. */
public final class Logs {
  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0}: %msg%n";

  private Logs() {}

  /** Until the settings are read, and for commands that need none. */
  public static void quiet() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
  }

  public static void configure(Settings settings) {
    LogConfig config = settings.log();
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    // No reset of the context: threads would log at debug level until the levels are set again.
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.detachAndStopAllAppenders();
    Encoder<ILoggingEvent> encoder = config.isJson() ? json() : text(context);
    encoder.setContext(context);
    encoder.start();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setContext(context);
    console.setTarget("System.err");
    console.setEncoder(encoder);
    console.start();
    root.addAppender(console);
    context.getLogger("dev.holdfast").setLevel(Level.toLevel(config.level()));
    // These log a lost connection with a stack trace; our loops and commands log it in one line.
    context.getLogger("com.zaxxer.hikari").setLevel(Level.ERROR);
    context.getLogger("org.postgresql").setLevel(Level.OFF);
    // Logs an error with a stack trace when a client connects while the server stops.
    context.getLogger("io.helidon.webserver.ServerListener").setLevel(Level.OFF);
  }

  private static JsonEncoder json() {
    JsonEncoder encoder =
        new JsonEncoder() {
          @Override
          public byte[] encode(ILoggingEvent event) {
            return Terminal.escaped(new String(super.encode(event), StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
          }
        };
    encoder.setWithFormattedMessage(true);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    return encoder;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayout layout =
        new PatternLayout() {
          @Override
          public String doLayout(ILoggingEvent event) {
            return Text.inert(super.doLayout(event));
          }
        };
    layout.setContext(context);
    layout.setPattern(PATTERN);
    layout.start();
    LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
    encoder.setLayout(layout);
    return encoder;
  }
}
