package dev.holdfast.contract.operate;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The database or a server did not do what it was asked. The message is for the operator. */
public final class OperatorException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. Those after {@link #NOT_FOUND} are codes of problems over HTTP. */
  public enum Reason {
    /** The server does not answer, or says that its database does not. */
    AWAY,
    /** The key is missing, wrong, or not enough. */
    NOT_ALLOWED,
    /** The request was understood and refused. */
    REFUSED,
    /** What answers is not a Holdfast server, or it failed. */
    BROKEN,
    NOT_FOUND,
    /** What all tenants share is not for a caller of one tenant. */
    FORBIDDEN,
    INVALID_VALUE,
    JOB_RUNNING,
    JOB_AWAITED,
    JOB_ALREADY_TERMINAL,
    JOB_CONTINUED,
    JOB_NOT_RETRYABLE,
    JOB_NOT_RUNNING,
    JOB_WITHOUT_STEPS,
    JOB_NOT_TAKEN_OVER,
    NO_SUCH_STEP,
    STEP_NOT_REACHED,
    STEP_DONE,
    STEP_WITHOUT_WORKSPACE,
    /** Nobody is asked this, or no longer. */
    NOT_ASKED,
    MAILBOX_FULL,
    /** Jobs that were started before the step have not ended, or are deleted. */
    CHILDREN_NOT_THERE,
    FORK_TOO_LARGE,
    PAYLOAD_LOST,
    KEY_REUSED,
    SUPERVISOR_SILENT,
    WORKER_STOPPED,
    WORKER_FAILED;

    /** The code of the problem over HTTP. */
    public String code() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Of a code that a server answers for something that an operator asked. */
    public static Optional<Reason> of(String code) {
      return Stream.of(values())
          .filter(each -> each.compareTo(FORBIDDEN) > 0 && each.code().equals(code))
          .findFirst();
    }
  }

  private final Reason reason;
  private final @Nullable JobState state;

  public OperatorException(Reason reason, String message) {
    this(reason, message, null, null);
  }

  public OperatorException(
      Reason reason, String message, @Nullable JobState state, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.state = state;
  }

  public static OperatorException noSuchJob(JobId job) {
    return new OperatorException(Reason.NOT_FOUND, "there is no job " + job);
  }

  /** Because of the state that a job is in. */
  public static OperatorException in(JobState state, Reason reason, String message) {
    return new OperatorException(reason, message, state, null);
  }

  public Reason reason() {
    return reason;
  }

  /** Of the job, if that is why. */
  public Optional<JobState> state() {
    return Optional.ofNullable(state);
  }
}
