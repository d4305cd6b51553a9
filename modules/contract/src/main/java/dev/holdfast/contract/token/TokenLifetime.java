package dev.holdfast.contract.token;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How long a task token is good: as long as configured, or until the task's deadline where that is
 * later, and never longer than two hours. A task that runs on gets a fresh token with a heartbeat.
 */
public record TokenLifetime(Duration ttl) {
  /** {@link #LONGEST}, for settings. */
  public static final String LONGEST_TEXT = "2h";

  public static final Duration LONGEST = Duration.parse("PT" + LONGEST_TEXT);

  /**
   * How long a signing key stays valid after its rotation: servers may use it for another minute
   * before they read the new one, and tokens that it signed live for {@link #LONGEST}.
   */
  public static final Duration KEY_OVERLAP = LONGEST.plus(Duration.ofMinutes(1));

  public static final TokenLifetime DEFAULT = new TokenLifetime(Duration.ofHours(1));

  public TokenLifetime {
    if (ttl.compareTo(Duration.ofSeconds(1)) < 0 || ttl.compareTo(LONGEST) > 0) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "TOKEN_TTL_SECONDS is %d: it must be between 1 and %d"
              .formatted(ttl.toSeconds(), LONGEST.toSeconds()));
    }
  }

  Instant end(Instant now, @Nullable Instant deadline) {
    Instant end = now.plus(ttl);
    if (deadline != null && deadline.isAfter(end)) {
      end = deadline.plusSeconds(1);
    }
    Instant longest = now.plus(LONGEST);
    return end.isAfter(longest) ? longest : end;
  }

  /** Whether it is time for a fresh one: when half of its life is over. */
  public boolean needsRenewal(TaskTokens.Read token, Instant now) {
    Duration life = Duration.between(token.issuedAt(), token.expiresAt());
    return now.isAfter(token.issuedAt().plus(life.dividedBy(2)));
  }
}
