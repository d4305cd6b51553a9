package dev.holdfast.contract.token;

import com.auth0.jwt.algorithms.Algorithm;
import java.util.Base64;

/** A secret that tokens are signed with, and its name. */
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

  @Override
  public String toString() {
    return "signing key " + kid;
  }
}
