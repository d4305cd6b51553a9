package dev.holdfast.server.notice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.server.Document;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** What the guide says of verifying a notice. */
class VerifiedNoticeTest extends NoticesFixture {
  VerifiedNoticeTest(TestDatabase db) {
    super(db);
  }

  // region verify
  /** The secret as in HOLDFAST_NOTIFY_SECRET, three headers, and the body as it came. */
  static boolean isGenuine(
      String secret, String id, String timestamp, String signature, byte[] body)
      throws GeneralSecurityException {
    byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    byte[] sent = Base64.getDecoder().decode(signature.substring("v1,".length()));
    long age = Instant.now().getEpochSecond() - Long.parseLong(timestamp);
    return Math.abs(age) < 300 && MessageDigest.isEqual(mac.doFinal(body), sent);
  }

  // endregion

  @Test
  void a_notice_is_as_the_guide_and_the_api_document_show_it() throws IOException {
    String schema = "/components/schemas/ApprovalRequested";
    try (InputStream guide = getClass().getResourceAsStream("/notice/approval-requested.json")) {
      JsonNode shown = Wire.tree(Objects.requireNonNull(guide).readAllBytes());
      Document.check(schema, shown, "the guide's notice");
      sender();
      asks(RAISE.within(Duration.ofDays(2)));
      JsonNode sent = next().json();
      Document.check(schema, sent, "a notice");
      for (String part : new String[] {"", "/data", "/data/job", "/data/question", "/data/links"}) {
        assertThat(sent.at(part).fieldNames())
            .toIterable()
            .containsExactlyElementsOf(() -> shown.at(part).fieldNames());
      }
    }
  }

  @Test
  void a_receiver_tells_a_notice_from_a_forged_one() throws GeneralSecurityException {
    sender();
    asks(RAISE);
    Received it = next();
    assertThat(isGenuine(SECRET, it.id(), it.timestamp(), it.signature(), it.body())).isTrue();
    byte[] forged = it.body().clone();
    forged[forged.length / 2] ^= 1;
    assertThat(isGenuine(SECRET, it.id(), it.timestamp(), it.signature(), forged)).isFalse();
    assertThat(isGenuine(SECRET, "other", it.timestamp(), it.signature(), it.body())).isFalse();
    String old = Long.toString(Long.parseLong(it.timestamp()) - 600);
    assertThat(isGenuine(SECRET, it.id(), old, it.signature(), it.body())).isFalse();
  }
}
