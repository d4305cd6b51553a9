package dev.holdfast.contract.token;

import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTVerifier;
import com.auth0.jwt.exceptions.JWTDecodeException;
import com.auth0.jwt.exceptions.JWTVerificationException;
import com.auth0.jwt.exceptions.TokenExpiredException;
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

/**
 * Signs and reads task tokens: JWT, HS256 and nothing else, each good for one attempt at one task.
 *
 * <p>The algorithm is not taken from the token. A key is looked up by its name in a set that is
 * fixed at that moment; the name is data and leads nowhere else.
 */
public final class TaskTokens {
  private static final String ISSUER = "holdfast";
  private static final String AUDIENCE = "holdfast:task";
  private static final String ALGORITHM = "HS256";
  private static final int MOST_CHARS = 4_096;

  /** Clocks of two servers may differ a little. */
  private static final Duration LEEWAY = Duration.ofSeconds(30);

  private final SigningKeys keys;
  private final TokenLifetime lifetime;
  private final InstantSource clock;

  public TaskTokens(SigningKeys keys, TokenLifetime lifetime, InstantSource clock) {
    this.keys = keys;
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
    SigningKey key = keys.current();
    Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    Instant expiresAt = lifetime.end(now, deadline);
    String text =
        JWT.create()
            .withKeyId(key.kid())
            .withIssuer(ISSUER)
            .withAudience(AUDIENCE)
            .withSubject(scope.task().toString())
            .withClaim("tenant", scope.tenant())
            .withClaim("workspace", scope.workspace())
            .withClaim("run", scope.run().toString())
            .withClaim("attempt", scope.attempt())
            .withIssuedAt(now)
            .withNotBefore(now)
            .withExpiresAt(expiresAt)
            .sign(key.algorithm());
    return new Signed(text, expiresAt);
  }

  /** What a token that was read says, and until when. */
  public record Read(TaskScope scope, Instant issuedAt, Instant expiresAt) {}

  public Read read(String token) throws TokenException {
    if (token.length() > MOST_CHARS) {
      throw new TokenException(Reason.INVALID, "the task token is too long", null);
    }
    DecodedJWT decoded = decoded(token);
    String kid = decoded.getKeyId();
    SigningKey key = kid == null ? null : keys.byId(kid).orElse(null);
    if (key == null || !ALGORITHM.equals(decoded.getAlgorithm())) {
      throw new TokenException(
          Reason.INVALID, "the task token was not signed by a key that is in use here", null);
    }
    return scope(verified(decoded, key));
  }

  private static DecodedJWT decoded(String token) throws TokenException {
    try {
      return JWT.decode(token);
    } catch (JWTDecodeException malformed) {
      throw new TokenException(Reason.INVALID, "the task token is not readable", malformed);
    }
  }

  private DecodedJWT verified(DecodedJWT decoded, SigningKey key) throws TokenException {
    Instant now = clock.instant();
    try {
      JWTVerifier verifier =
          ((JWTVerifier.BaseVerification)
                  JWT.require(key.algorithm())
                      .withIssuer(ISSUER)
                      .withAudience(AUDIENCE)
                      .acceptLeeway(LEEWAY.toSeconds()))
              .build(java.time.Clock.fixed(now, java.time.ZoneOffset.UTC));
      return verifier.verify(decoded);
    } catch (TokenExpiredException expired) {
      throw new TokenException(Reason.EXPIRED, "the task token has expired", expired);
    } catch (JWTVerificationException refused) {
      Instant notBefore = decoded.getNotBeforeAsInstant();
      boolean early = notBefore != null && notBefore.isAfter(now.plus(LEEWAY));
      throw new TokenException(
          early ? Reason.NOT_YET_VALID : Reason.INVALID,
          early ? "the task token is not valid yet" : "the task token is not valid",
          refused);
    }
  }

  /** Claim by claim: one that is missing, or of another type, makes it no token of ours. */
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
