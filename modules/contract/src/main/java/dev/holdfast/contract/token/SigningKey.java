package dev.holdfast.contract.token;

import com.auth0.jwt.algorithms.Algorithm;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** A secret that task tokens are signed with, and its name. */
public final class SigningKey {
  public static final int BYTES = 32;

  private final String kid;
  private final Algorithm algorithm;

  /**
   * @param secret 32 bytes or more, in base64
   */
  public SigningKey(String kid, String secret) {
    byte[] bytes = Base64.getDecoder().decode(secret);
    if (bytes.length < BYTES) {
      throw new IllegalArgumentException("a signing key needs " + BYTES + " bytes");
    }
    this.kid = kid;
    this.algorithm = Algorithm.HMAC256(bytes);
  }

  public String kid() {
    return kid;
  }

  Algorithm algorithm() {
    return algorithm;
  }

  /**
   * A seal for something that is no token. No token's text has a NUL in it, so neither can ever
   * pass for the other.
   */
  public byte[] seal(String purpose, String text) {
    return algorithm.sign((purpose + '\0' + text).getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "signing key " + kid;
  }
}
