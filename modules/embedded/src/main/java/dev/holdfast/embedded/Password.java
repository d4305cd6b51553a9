package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The random password of one server, in a file only its owner reads. */
final class Password {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private Password() {}

  static String read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new EmbeddedPostgresException(
          "password file %s is missing: put it back, or move its folder away to start with an empty one"
              .formatted(file));
    }
    return Files.readString(file).strip();
  }

  /** On the disk before the server that will ask for it. */
  static void create(Path file) throws IOException {
    byte[] random = new byte[24];
    new SecureRandom().nextBytes(random);
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    writeTo(fresh, Base64.getUrlEncoder().encodeToString(random));
    Trees.syncOne(fresh);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
  }

  static void writeTo(Path file, String text) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    Files.writeString(file, text + "\n");
  }

  /**
   * What the server keeps of the password (RFC 5802). Its hash is taken once and not thousands of
   * times, which whoever connects would have to do as well, a tenth of a second in a young JVM:
   * that is against guessing, and nobody guesses 192 random bits.
   */
  static String verifier(String password) {
    try {
      Mac hmac = Mac.getInstance("HmacSHA256");
      byte[] salt = new byte[16];
      new SecureRandom().nextBytes(salt);
      byte[] salted =
          sign(
              hmac,
              password.getBytes(StandardCharsets.UTF_8),
              ByteBuffer.allocate(salt.length + Integer.BYTES).put(salt).putInt(1).array());
      byte[] client = sign(hmac, salted, "Client Key".getBytes(StandardCharsets.UTF_8));
      byte[] server = sign(hmac, salted, "Server Key".getBytes(StandardCharsets.UTF_8));
      Base64.Encoder base64 = Base64.getEncoder();
      return "SCRAM-SHA-256$1:%s$%s:%s"
          .formatted(
              base64.encodeToString(salt),
              base64.encodeToString(MessageDigest.getInstance("SHA-256").digest(client)),
              base64.encodeToString(server));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every JVM has both
    }
  }

  private static byte[] sign(Mac hmac, byte[] key, byte[] message) throws GeneralSecurityException {
    hmac.init(new SecretKeySpec(key, hmac.getAlgorithm()));
    return hmac.doFinal(message);
  }
}
