package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;

/** The random password of one server, in a file only its owner reads. */
final class Password {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private Password() {}

  static String read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new EmbeddedPostgresException(
          "password file %s is missing: put it back, or move its folder away to begin anew"
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

  static void writeTo(Path file, String password) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    Files.writeString(file, password + "\n");
  }
}
