package dev.holdfast.contract.token;

import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTCreator;
import com.auth0.jwt.JWTVerifier;
import com.auth0.jwt.exceptions.JWTDecodeException;
import com.auth0.jwt.exceptions.JWTVerificationException;
import com.auth0.jwt.exceptions.TokenExpiredException;
import com.auth0.jwt.interfaces.DecodedJWT;
import dev.holdfast.contract.token.TokenException.Reason;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.function.UnaryOperator;

/**
 * Signs and verifies tokens of one audience: JWT, HS256 and nothing else. A token of one audience
 * is not valid for another.
 *
 * <p>The algorithm is not taken from the token. A key is looked up by its name in a set that is
 * fixed at that moment; the name is data and leads nowhere else.
 */
public final class SignedTokens {
  private static final String ISSUER = "holdfast";
  private static final String ALGORITHM = "HS256";
  private static final int MOST_CHARS = 4_096;
  private static final Duration EVER = Duration.ofDays(100 * 365);

  private final String name;
  private final String audience;
  private final Duration leeway;
  private final SigningKeys keys;
  private final InstantSource clock;

  /**
   * @param name what messages call such a token
   * @param leeway how far clocks of two servers may differ
   */
  public SignedTokens(
      String name, String audience, Duration leeway, SigningKeys keys, InstantSource clock) {
    this.name = name;
    this.audience = audience;
    this.leeway = leeway;
    this.keys = keys;
    this.clock = clock;
  }

  public String sign(UnaryOperator<JWTCreator.Builder> claims) {
    SigningKey key = keys.current();
    JWTCreator.Builder token =
        JWT.create().withKeyId(key.kid()).withIssuer(ISSUER).withAudience(audience);
    return claims.apply(token).sign(key.algorithm());
  }

  public DecodedJWT verified(String token) throws TokenException {
    return verified(token, leeway);
  }

  /** The same, except that the token may have expired. */
  DecodedJWT verifiedWithoutExpiry(String token) throws TokenException {
    return verified(token, EVER);
  }

  /**
   * @param expiredBy how long ago the token may have expired
   */
  private DecodedJWT verified(String token, Duration expiredBy) throws TokenException {
    if (token.length() > MOST_CHARS) {
      throw new TokenException(Reason.INVALID, "the " + name + " is too long", null);
    }
    if (!isCanonical(token)) {
      throw new TokenException(Reason.INVALID, "the " + name + " is not readable", null);
    }
    DecodedJWT decoded = decoded(token);
    String kid = decoded.getKeyId();
    SigningKey key = kid == null ? null : keys.byId(kid).orElse(null);
    if (key == null || !ALGORITHM.equals(decoded.getAlgorithm())) {
      throw new TokenException(
          Reason.INVALID, "the " + name + " was not signed by a key that is in use here", null);
    }
    return verified(decoded, key, expiredBy);
  }

  /**
   * Whether each part is the one text of its bytes. A decoder also takes padding, and any value of
   * the bits that are left over in the last character: several texts would be one token.
   */
  private static boolean isCanonical(String token) {
    try {
      for (String part : token.split("\\.", -1)) {
        byte[] bytes = Base64.getUrlDecoder().decode(part);
        if (!Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(part)) {
          return false;
        }
      }
      return true;
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  private DecodedJWT decoded(String token) throws TokenException {
    try {
      return JWT.decode(token);
    } catch (JWTDecodeException malformed) {
      throw new TokenException(Reason.INVALID, "the " + name + " is not readable", malformed);
    }
  }

  private DecodedJWT verified(DecodedJWT decoded, SigningKey key, Duration expiredBy)
      throws TokenException {
    Instant now = clock.instant();
    try {
      JWTVerifier verifier =
          ((JWTVerifier.BaseVerification)
                  JWT.require(key.algorithm())
                      .withIssuer(ISSUER)
                      .withAudience(audience)
                      .acceptLeeway(leeway.toSeconds())
                      .acceptExpiresAt(expiredBy.toSeconds()))
              .build(Clock.fixed(now, ZoneOffset.UTC));
      return verifier.verify(decoded);
    } catch (TokenExpiredException expired) {
      throw new TokenException(Reason.EXPIRED, "the " + name + " has expired", expired);
    } catch (JWTVerificationException refused) {
      Instant notBefore = decoded.getNotBeforeAsInstant();
      boolean early = notBefore != null && notBefore.isAfter(now.plus(leeway));
      throw new TokenException(
          early ? Reason.NOT_YET_VALID : Reason.INVALID,
          "the " + name + (early ? " is not valid yet" : " is not valid"),
          refused);
    }
  }
}
