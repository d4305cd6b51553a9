package dev.holdfast.contract.token;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * API keys as text: {@code hf_id_secret}. The key is looked up by the id. The secret has 256 random
 * bits, so a plain SHA-256 digest of it is safe to store.
 */
public final class Secrets {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MOST_CHARS = 200;

  private Secrets() {}

  /** The id and the secret of a key. */
  public record Parts(String id, String secret) {
    public String text() {
      return "hf_" + id + "_" + secret;
    }

    public String digest() {
      return Secrets.digest(secret);
    }

    @Override
    public String toString() {
      return "key " + id;
    }
  }

  public static Parts next() {
    byte[] id = new byte[6];
    byte[] secret = new byte[32];
    RANDOM.nextBytes(id);
    RANDOM.nextBytes(secret);
    return new Parts(
        HexFormat.of().formatHex(id),
        Base64.getUrlEncoder().withoutPadding().encodeToString(secret));
  }

  /** Null when the text has not the form of a key. */
  public static @Nullable Parts parse(String text) {
    String[] parts = text.length() > MOST_CHARS ? new String[0] : text.split("_", 3);
    return parts.length == 3 && parts[0].equals("hf") && parts[1].matches("[0-9a-f]{12}")
        ? new Parts(parts[1], parts[2])
        : null;
  }

  public static String digest(String text) {
    return digest(text.getBytes(StandardCharsets.UTF_8));
  }

  public static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Compares in constant time. */
  public static boolean matches(String secret, String digest) {
    return MessageDigest.isEqual(
        digest(secret).getBytes(StandardCharsets.UTF_8), digest.getBytes(StandardCharsets.UTF_8));
  }
}
