package dev.holdfast.model.command;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A command for one worker process, with the operator's name and reason.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public record WorkerCommand(
    long id,
    String supervisor,
    String component,
    Action action,
    String requestedBy,
    String reason,
    Instant requestedAt) {
  /** What can be asked. */
  public enum Action {
    /** It takes no new jobs; those it has are finished. */
    PAUSE,
    /** Ends a pause; one that was stopped or has failed is started. */
    RESUME,
    /** Its process ends as at a stop, and another one takes its place. */
    RESTART,
    /** Its process ends, and none takes its place. */
    STOP;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static Action of(String text) {
      for (Action action : values()) {
        if (action.text().equals(text)) {
          return action;
        }
      }
      throw new RefusedException(
          Refusal.BAD_NAME,
          "action '%s' is none of pause, resume, restart, stop"
              .formatted(Text.excerpt(text, Limits.NAME_CHARS)));
    }
  }

  /**
   * A command that is not stored yet.
   *
   * @param supervisor null for all that have a worker of that name
   */
  public record Draft(
      String component,
      @Nullable String supervisor,
      Action action,
      String requestedBy,
      String reason) {}
}
