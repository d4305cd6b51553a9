package dev.holdfast.queue.schema;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

/** The SQL that makes one version of the schema from the one before. */
record Script(int version, String name) {
  private static final String FOLDER = "/dev/holdfast/queue/migration/";

  // In their order: the first makes version 1.
  private static final List<String> NAMES = List.of("V1__holdfast.sql");

  static final int LAST = NAMES.size();

  /** Those that bring a schema of this version up to date. */
  static List<Script> after(int version) {
    return IntStream.rangeClosed(version + 1, LAST)
        .mapToObj(next -> new Script(next, NAMES.get(next - 1)))
        .toList();
  }

  static List<Script> upTo(int version) {
    return after(0).stream().filter(script -> script.version() <= version).toList();
  }

  String sql() {
    try (InputStream in = Script.class.getResourceAsStream(FOLDER + name)) {
      if (in == null) {
        throw new IllegalStateException("there is no " + FOLDER + name + " on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** With the digest of the script, by which a changed one is noticed. */
  String recordedSql() {
    return sql()
        + "UPDATE holdfast.schema_version SET digest = '%s' WHERE version = %d;\n"
            .formatted(digest(), version);
  }

  String digest() {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha256.digest(sql().getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
