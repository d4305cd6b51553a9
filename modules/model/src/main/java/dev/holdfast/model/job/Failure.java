package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The one shape a failure has, from the handler to the page. Texts are cut to their limits.
 *
 * @param cause the failure of the last attempt, if this one only says that it was the last
 */
public record Failure(
    FailureCategory category,
    String code,
    String message,
    @Nullable String stackTrace,
    boolean retryable,
    @Nullable Cause cause) {

  public static final String HEARTBEAT_TIMEOUT = "HEARTBEAT_TIMEOUT";
  public static final String RETRIES_EXHAUSTED = "RETRIES_EXHAUSTED";
  public static final String TOXIC_JOB = "TOXIC_JOB";
  public static final String CANCEL_TIMEOUT = "CANCEL_TIMEOUT";
  public static final String DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED";
  public static final String DEPENDENCY_FAILED = "DEPENDENCY_FAILED";
  public static final String ATTEMPT_TIMEOUT = "ATTEMPT_TIMEOUT";
  public static final String INPUT_TOO_LARGE = "INPUT_TOO_LARGE";
  public static final String VALIDATION = "VALIDATION";
  public static final String NO_HANDLER = "NO_HANDLER";
  public static final String PAYLOAD_UNREADABLE = "PAYLOAD_UNREADABLE";
  public static final String NOT_DECIDED = "NOT_DECIDED";

  /** A person has said no, or nobody in time, and the job does not go on then. */
  public static final String REJECTED = "REJECTED";

  /** No signal has come in time, and the job does not go on then. */
  public static final String NOT_SIGNALLED = "NOT_SIGNALLED";

  public static final String CHILD_FAILED = "CHILD_FAILED";
  public static final String HANDLER_FAILED = "HANDLER_FAILED";

  public static final String DISPATCH_FAILED = "DISPATCH_FAILED";
  public static final String DISPATCH_REFUSED = "DISPATCH_REFUSED";

  /** What a worker says, and what is said for one that does not. */
  public static final String CANCEL_TIMEOUT_MESSAGE =
      "the handler did not stop within the cancel grace period";

  /** The same; a format, of Java and of PostgreSQL, with the timeout in milliseconds. */
  public static final String ATTEMPT_TIMEOUT_MESSAGE =
      "the attempt took longer than its timeout of %s ms";

  private static final Set<String> NEVER_RETRIED =
      Set.of(
          INPUT_TOO_LARGE,
          VALIDATION,
          NO_HANDLER,
          DEADLINE_EXCEEDED,
          CANCEL_TIMEOUT,
          TOXIC_JOB,
          NOT_DECIDED,
          REJECTED,
          NOT_SIGNALLED);

  public Failure {
    code = Text.excerpt(code, Limits.NAME_CHARS);
    message = Text.excerpt(message, Limits.MESSAGE_CHARS);
    stackTrace = stackTrace == null ? null : Text.excerpt(stackTrace, Limits.STACK_TRACE_CHARS);
  }

  public Failure(
      FailureCategory category,
      String code,
      String message,
      @Nullable String stackTrace,
      boolean retryable) {
    this(category, code, message, stackTrace, retryable, null);
  }

  /** Why the last attempt failed. */
  public record Cause(String code, String message) {
    public Cause {
      code = Text.excerpt(code, Limits.NAME_CHARS);
      message = Text.excerpt(message, Limits.MESSAGE_CHARS);
    }
  }

  /** What went wrong, without how often: the cause if there is one, else the failure itself. */
  public Cause root() {
    return cause == null ? new Cause(code, message) : cause;
  }

  /** All that a log or a test says of it: the code, the message, and below it the stack trace. */
  public String detail() {
    String line = code + ": " + message;
    return stackTrace == null ? line : line + "\n" + stackTrace.stripTrailing();
  }

  /** Retried or not as its category and code say. */
  public static Failure of(FailureCategory category, String code, String message) {
    boolean retryable = category.retryableByDefault() && !NEVER_RETRIED.contains(code);
    return new Failure(category, code, message, null, retryable);
  }

  /** What a throwable that left a handler means. */
  public static Failure from(Throwable thrown) {
    if (thrown instanceof FailedException failed) {
      Failure failure = failed.failure();
      return failure.stackTrace() == null ? failure.withStackTrace(stackTraceOf(thrown)) : failure;
    }
    String message = messageOf(thrown);
    String summary = nameOf(thrown) + (message.isBlank() ? "" : ": " + message);
    return of(FailureCategory.USER_CODE, HANDLER_FAILED, summary)
        .withStackTrace(stackTraceOf(thrown));
  }

  /** The same, to be retried or not. */
  public Failure withRetryable(boolean value) {
    return new Failure(category, code, message, stackTrace, value, cause);
  }

  /** The same failure under a more telling code, which retrying would not change. */
  public Failure withCode(String newCode) {
    return new Failure(category, newCode, message, stackTrace, false, cause);
  }

  /** The same with another stack trace, or none. */
  public Failure withStackTrace(@Nullable String trace) {
    return new Failure(category, code, message, trace, retryable, cause);
  }

  /** With whatever its texts must not say taken out. */
  public Failure scrubbed(UnaryOperator<String> scrub) {
    return new Failure(
        category,
        code,
        scrub.apply(message),
        stackTrace == null ? null : scrub.apply(stackTrace),
        retryable,
        cause == null ? null : new Cause(cause.code(), scrub.apply(cause.message())));
  }

  private static String nameOf(Throwable thrown) {
    String simple = thrown.getClass().getSimpleName();
    return simple.isEmpty() ? thrown.getClass().getName() : simple;
  }

  // A handler's exception may override what is called here and throw; its failure still counts.
  private static String messageOf(Throwable thrown) {
    try {
      String message = thrown.getMessage();
      return message == null ? "" : message;
    } catch (RuntimeException | Error hostile) {
      return "its message could not be read: " + hostile.getClass().getName();
    }
  }

  private static @Nullable String stackTraceOf(Throwable thrown) {
    try {
      StringWriter text = new StringWriter();
      thrown.printStackTrace(new PrintWriter(text));
      return text.toString();
    } catch (RuntimeException | Error hostile) {
      return null;
    }
  }
}
