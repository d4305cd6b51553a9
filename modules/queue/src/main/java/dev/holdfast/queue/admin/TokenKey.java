package dev.holdfast.queue.admin;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** A secret, in base64, and its name. */
public record TokenKey(String kid, String secret) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** A new one, with a random name and 256 random bits. */
  public static TokenKey next() {
    byte[] name = new byte[6];
    byte[] secret = new byte[32];
    RANDOM.nextBytes(name);
    RANDOM.nextBytes(secret);
    return new TokenKey(HexFormat.of().formatHex(name), Base64.getEncoder().encodeToString(secret));
  }

  @Override
  public String toString() {
    return "key " + kid;
  }
}
