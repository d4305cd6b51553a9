package dev.holdfast.contract.token;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs webhooks as Standard Webhooks specifies it, which receivers have libraries for. */
public final class WebhookSecret {
  /** What the text of a secret is, for messages. */
  public static final String EXPECTED =
      "'whsec_' and base64 of 24 to 64 random bytes, such as \"whsec_$(openssl rand -base64 32)\",";

  private static final String PREFIX = "whsec_";
  private static final int LEAST = 24;
  private static final int MOST = 64;
  private static final String ALGORITHM = "HmacSHA256";

  private final byte[] key;

  private WebhookSecret(byte[] key) {
    this.key = key;
  }

  /**
   * @throws IllegalArgumentException unless it is {@link #EXPECTED}; without the text
   */
  public static WebhookSecret parse(String text) {
    byte[] key = text.startsWith(PREFIX) ? decoded(text.substring(PREFIX.length())) : new byte[0];
    if (key.length < LEAST || key.length > MOST) {
      throw new IllegalArgumentException("a secret is " + EXPECTED);
    }
    return new WebhookSecret(key);
  }

  private static byte[] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException malformed) {
      // Its message has a part of the secret.
      return new byte[0];
    }
  }

  /** The value of the header {@code webhook-signature}. */
  public String signature(String id, Instant at, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      mac.update((id + "." + at.getEpochSecond() + ".").getBytes(StandardCharsets.UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public String toString() {
    return "a secret";
  }
}
