package dev.holdfast.programs;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.process.LastLines;
import dev.holdfast.process.RollingFile;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.redaction.ScrubbingStream;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.LeaseLostException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a program prints. Lines on its standard output that begin with {@code holdfast: } are
 * messages to its worker; every other line is log. The log is scrubbed as a stream, so that a
 * secret of several lines is found.
 */
final class ProgramOutput {
  static final String PREFIX = "holdfast: ";
  static final int MOST_EVENTS = 1_000;
  private static final int LOG_LINE_CHARS = 8_000;

  private final JobContext context;
  private final Codec codec;
  private final Scrubber scrubber;
  private final RollingFile log;
  private final ScrubbingStream scrubbed;
  private final LastLines last = new LastLines();
  private final AskedByProgram asked;
  private int percent;
  private int events;
  private long unread;
  private volatile @Nullable Json result;
  private volatile @Nullable Failure failure;

  /**
   * @param events that calls of the program in this attempt had before
   */
  ProgramOutput(JobContext context, Codec codec, Scrubber scrubber, RollingFile log, int events) {
    this.context = context;
    this.codec = codec;
    this.scrubber = scrubber;
    this.log = log;
    this.events = events;
    this.asked = new AskedByProgram(codec, scrubber);
    this.scrubbed = scrubber.stream(this::keep);
  }

  /** A message: one line of JSON with any of these. */
  record ProgramMessage(
      @Nullable Double progress,
      @Nullable String message,
      @Nullable Object output,
      @Nullable FailureMessage failure,
      @Nullable EventMessage event,
      @Nullable Object children,
      @Nullable Object suspend) {}

  record FailureMessage(
      @Nullable FailureCategory category,
      @Nullable String code,
      @Nullable String message,
      @Nullable Boolean retryable) {}

  record EventMessage(@Nullable String type, @Nullable Object data) {}

  void out(String line, long cut) {
    if (!line.startsWith(PREFIX)) {
      log(line, cut);
      return;
    }
    try {
      if (cut > 0) {
        throw new IllegalArgumentException("the line is too long");
      }
      ProgramMessage message =
          codec.decode(new Json(line.substring(PREFIX.length())), ProgramMessage.class);
      handle(message);
      ask(message, line.length());
    } catch (CancelledException | LeaseLostException stopping) {
      log("not reported any more: " + line, 0);
    } catch (IllegalArgumentException wrong) {
      log(line, cut);
      log("holdfast does not understand the line above: " + wrong.getMessage(), 0);
      if (line.contains("\"suspend\"") || line.contains("\"children\"")) {
        asked.refuse(
            new RefusedException(
                Refusal.PAYLOAD_MISMATCH,
                "a line that waits or starts jobs cannot be read: " + wrong.getMessage()));
      }
    }
  }

  private void ask(ProgramMessage message, int length) {
    if (asked.isWaiting()) {
      asked.refuse(
          new RefusedException(
              Refusal.PAYLOAD_MISMATCH,
              "suspend: the program has sent another line after it: it waits once, and ends then"));
    }
    if (message.children() != null) {
      asked.children(message.children(), length);
    }
    if (message.suspend() != null) {
      asked.suspend(message.suspend());
    }
  }

  void err(String line, long cut) {
    log(line, cut);
  }

  private void handle(ProgramMessage message) {
    if (message.progress() != null) {
      percent = (int) Math.clamp(message.progress(), 0.0, 100.0);
    }
    if (message.progress() != null || message.message() != null) {
      context.progress(percent, message.message() == null ? "" : scrubber.scrub(message.message()));
    }
    if (message.output() != null) {
      result = Limits.result(codec.encode(message.output()));
    }
    if (message.failure() != null) {
      failure = failure(message.failure());
    }
    if (message.event() != null) {
      event(message.event());
    }
  }

  private Failure failure(FailureMessage reported) {
    FailureCategory category =
        reported.category() == null ? FailureCategory.USER_CODE : reported.category();
    String code = reported.code() == null ? Failure.HANDLER_FAILED : reported.code();
    String message =
        reported.message() == null ? "the program reported a failure" : reported.message();
    // Before it is cut to what a failure may hold.
    Failure failure = Failure.of(category, code, scrubber.scrub(message));
    return reported.retryable() == null ? failure : failure.withRetryable(reported.retryable());
  }

  private void event(EventMessage event) {
    if (event.type() == null) {
      throw new IllegalArgumentException("an event needs a type");
    }
    if (++events > MOST_EVENTS) {
      throw new IllegalArgumentException("it has had its " + MOST_EVENTS + " events");
    }
    context.event(
        event.type(), event.data() == null ? Map.of() : scrubber.scrubTexts(event.data()));
  }

  private synchronized void log(String line, long cut) {
    unread = cut;
    scrubbed.write(line + "\n");
    unread = 0;
  }

  /** One or more whole lines. Cut only here: half a secret would not be recognised. */
  private void keep(String lines) {
    lines
        .lines()
        .forEach(
            line -> {
              String text = Text.excerpt(line, LOG_LINE_CHARS);
              long dropped = unread + Math.max(0, line.length() - LOG_LINE_CHARS);
              String kept = dropped > 0 ? text + " (" + dropped + " more)" : text;
              log.line(kept);
              last.add(kept);
              context.log(kept);
            });
  }

  /** The program prints nothing more. */
  synchronized void end() {
    scrubbed.close();
  }

  @Nullable Json result() {
    return result;
  }

  /** The failure that it reported, whatever its exit code. */
  @Nullable Failure failure() {
    return failure;
  }

  /** What it wants done now that it has ended. */
  AskedByProgram asked() {
    return asked;
  }

  int events() {
    return events;
  }

  LastLines last() {
    return last;
  }
}
