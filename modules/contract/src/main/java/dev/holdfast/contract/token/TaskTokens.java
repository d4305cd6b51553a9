package dev.holdfast.contract.token;

import com.auth0.jwt.interfaces.Claim;
import com.auth0.jwt.interfaces.DecodedJWT;
import dev.holdfast.contract.token.TokenException.Reason;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Signs and reads task tokens, each good for one attempt at one task. */
public final class TaskTokens {
  private static final String AUDIENCE = "holdfast:task";

  /** Clocks of two servers may differ a little. */
  private static final Duration LEEWAY = Duration.ofSeconds(30);

  private final SignedTokens tokens;
  private final TokenLifetime lifetime;
  private final InstantSource clock;

  public TaskTokens(SigningKeys keys, TokenLifetime lifetime, InstantSource clock) {
    this.tokens = new SignedTokens("task token", AUDIENCE, LEEWAY, keys, clock);
    this.lifetime = lifetime;
    this.clock = clock;
  }

  /** A token and when it ends. */
  public record Signed(String text, Instant expiresAt) {
    @Override
    public String toString() {
      return "a token until " + expiresAt;
    }
  }

  public Signed sign(TaskScope scope, @Nullable Instant deadline) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    Instant expiresAt = lifetime.end(now, deadline);
    String text =
        tokens.sign(
            token ->
                token
                    .withSubject(scope.task().toString())
                    .withClaim("tenant", scope.tenant())
                    .withClaim("workspace", scope.workspace())
                    .withClaim("run", scope.run().toString())
                    .withClaim("attempt", scope.attempt())
                    .withIssuedAt(now)
                    .withNotBefore(now)
                    .withExpiresAt(expiresAt));
    return new Signed(text, expiresAt);
  }

  /** What a token that was read says, and until when. */
  public record Read(TaskScope scope, Instant issuedAt, Instant expiresAt) {}

  public Read read(String token) throws TokenException {
    return scope(tokens.verified(token));
  }

  /**
   * The same for a token that has expired, however long ago. Whether it is good for anything, its
   * attempt decides.
   */
  public Read readExpired(String token) throws TokenException {
    return scope(tokens.verifiedWithoutExpiry(token));
  }

  /** Refuses a token that lacks a claim, or has one of another type. */
  private static Read scope(DecodedJWT token) throws TokenException {
    try {
      Integer attempt = token.getClaim("attempt").asInt();
      Instant issuedAt = token.getIssuedAtAsInstant();
      Instant expiresAt = token.getExpiresAtAsInstant();
      if (attempt == null || attempt < 1 || issuedAt == null || expiresAt == null) {
        throw new TokenException(Reason.INVALID, "the task token lacks a claim", null);
      }
      TaskScope scope =
          new TaskScope(
              text(token.getClaim("tenant")),
              text(token.getClaim("workspace")),
              JobId.parse(text(token.getClaim("run"))),
              JobId.parse(text(token.getClaim("sub"))),
              attempt);
      return new Read(scope, issuedAt, expiresAt);
    } catch (RefusedException malformed) {
      throw new TokenException(Reason.INVALID, "the task token has a malformed claim", malformed);
    }
  }

  private static String text(Claim claim) throws TokenException {
    String value = claim.asString();
    if (value == null || value.isEmpty()) {
      throw new TokenException(Reason.INVALID, "the task token lacks a claim", null);
    }
    return value;
  }
}
