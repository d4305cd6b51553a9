package dev.holdfast.model.wait;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Something to tell a job: it waits for it, or will find it when it does.
 *
 * @param key of two signals to a job with the same key only the first counts; null for none
 * @param by who has sent it, for the timeline
 */
public record SignalToJob(String name, Json payload, @Nullable String key, String by) {
  /** How many signals a job may have that no wait has taken. */
  public static final int MAILBOX = 1_000;

  public SignalToJob {
    name(name);
    Limits.payload(payload);
    if (key != null) {
      Limits.key("signal key", key);
    }
    Limits.reason(by);
  }

  static String name(String name) {
    return Limits.word("signal", name);
  }

  /** What became of a signal. */
  public enum Answer {
    ACCEPTED,
    /** A signal with its key was there before: nothing was changed. */
    DUPLICATE,
    NO_SUCH_JOB,
    ALREADY_TERMINAL,
    /** As many as there may be wait to be taken: {@value SignalToJob#MAILBOX}. */
    MAILBOX_FULL
  }
}
