package dev.holdfast.redaction;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PatchSearchTest {
  private static final String SECRET = "correct/horse-battery";

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void makeRepository() throws Exception {
    sh("git init -q");
    file = folder.resolve("file");
    Files.write(file, noise(5_000));
    sh("git add file");
  }

  private void sh(String script) throws Exception {
    assertThat(
            new ProcessBuilder("/bin/sh", "-ec", script)
                .directory(folder.toFile())
                .start()
                .waitFor())
        .isZero();
  }

  private static byte[] noise(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    bytes[0] = 0;
    return bytes;
  }

  private boolean isFound(String secret, byte[]... parts) throws Exception {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      whole.write(part);
    }
    Files.write(file, whole.toByteArray());
    sh("git diff --binary --full-index > patch");
    return new PatchSearch(List.of(secret)).isIn(folder.resolve("patch"));
  }

  @Test
  void finds_a_secret_in_a_text_file_however_it_is_encoded() throws Exception {
    Files.writeString(file, "before\n");
    sh("git add file");
    byte[] bytes = SECRET.getBytes(UTF_8);
    for (String written :
        List.of(
            SECRET,
            SECRET.replace("/", "\\/"),
            SECRET.replace("/", "%2F"),
            HexFormat.of().formatHex(bytes),
            Base64.getEncoder().encodeToString(("user:" + SECRET).getBytes(UTF_8)),
            Base64.getMimeEncoder()
                .encodeToString(("x".repeat(50) + SECRET + "y".repeat(90)).getBytes(UTF_8)),
            "correct/\n    horse-battery")) {
      assertThat(isFound(SECRET, ("a\nb: " + written + "\nc\n").getBytes(UTF_8))).isTrue();
    }
    assertThat(isFound(SECRET, "correct/horse and battery\n".getBytes(UTF_8))).isFalse();
  }

  @Test
  void finds_a_secret_in_the_name_of_a_file() throws Exception {
    String secret = "päss \\ wörd";
    sh("touch '" + secret + "'; git add -N .; git diff --binary > patch");
    assertThat(new PatchSearch(List.of(secret)).isIn(folder.resolve("patch"))).isTrue();
  }

  @Test
  void finds_a_secret_in_a_new_binary_file() throws Exception {
    assertThat(isFound(SECRET, noise(3), SECRET.getBytes(UTF_8), noise(90))).isTrue();
    assertThat(isFound(SECRET, noise(200_000), SECRET.getBytes(UTF_16LE), noise(90))).isTrue();
    assertThat(isFound(SECRET, noise(200_000))).isFalse();
  }

  /** Git writes only what is new in it. */
  @Test
  void finds_a_secret_in_a_changed_binary_file() throws Exception {
    byte[] before = noise(5_000);
    assertThat(isFound(SECRET, before, new byte[120], SECRET.getBytes(UTF_8))).isTrue();
    assertThat(Files.readString(folder.resolve("patch"))).contains("\ndelta ");
    assertThat(isFound(SECRET, before, new byte[120])).isFalse();
  }

  @Test
  void finds_a_private_key_and_not_its_header_line_alone() throws Exception {
    Files.writeString(file, "before\n");
    sh("git add file");
    String begin = "-----BEGIN PRIVATE KEY-----\n";
    String body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC0123456789abcdefghij\n";
    String key = begin + body + "-----END PRIVATE KEY-----\n";
    assertThat(isFound(key, ("x\n" + key).getBytes(UTF_8))).isTrue();
    assertThat(isFound(key, ("x\n" + begin + "…\n").getBytes(UTF_8))).isFalse();
  }
}
