package dev.holdfast.model.ops;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who has paused something, and why. A second pause of what is paused changes nothing.
 *
 * @param by the name of the API key, or of the user who did it on the database; null if not known
 * @param reason null if none was given
 */
public record Pause(Instant at, @Nullable String by, @Nullable String reason) {
  /** By whom and why, before it has a time. */
  public record Draft(@Nullable String by, @Nullable String reason) {
    /** By a program that does not say. */
    public static final Draft UNKNOWN = new Draft(null, null);
  }
}
