package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./release --key} signs the bundle for Maven Central; here with a key of its own. */
class SignaturesTest {
  private static final String KEY = "releaser@example.org";
  private static final String FOLDER = "dev/holdfast/holdfast/0.1.0/";

  /** Short, since the agent of GnuPG has a socket in it. */
  private Path home;

  @TempDir private Path folder;

  @BeforeEach
  void makeKey() throws IOException {
    assumeThat(System.getenv("PATH").split(":"))
        .as("gpg on the path")
        .anyMatch(each -> Files.isExecutable(Path.of(each, "gpg")));
    home = Files.createTempDirectory("gpg");
    run("gpg --batch --quiet --passphrase '' --quick-generate-key " + KEY + " ed25519 sign never");
  }

  @AfterEach
  void endAgent() throws IOException {
    if (home != null) {
      run("gpgconf --kill gpg-agent");
      FreshClone.delete(home);
    }
  }

  private void run(String command, String... arguments) {
    List<String> all =
        Stream.concat(Stream.of("bash", "-euc", command, "bash"), Stream.of(arguments)).toList();
    ProcessBuilder builder = new ProcessBuilder(all).directory(Release.CHECKOUT.toFile());
    builder.environment().put("GNUPGHOME", home.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("SOURCE_DATE_EPOCH", "1700000000");
    try (ChildProcess process = ChildProcess.start(builder)) {
      int code = process.awaitExit(SOON);
      assertThat(code).as("%s%n%s", command, process.lines()).isZero();
    }
  }

  private String bundle(String key) throws IOException {
    Path repository = folder.resolve("repository");
    Files.createDirectories(repository.resolve(FOLDER));
    for (String name : List.of("holdfast-0.1.0.jar", "holdfast-0.1.0.pom")) {
      Files.writeString(repository.resolve(FOLDER + name), name);
      Files.writeString(repository.resolve(FOLDER + name + ".sha1"), "a checksum");
    }
    Path bundle = folder.resolve("bundle.zip");
    run(
        ". bin/release-parts; make_bundle 0.1.0 \"$@\"",
        repository.toString(),
        bundle.toString(),
        key);
    return bundle.toString();
  }

  @Test
  void every_file_has_a_signature_of_the_given_key() throws IOException {
    try (ZipFile bundle = new ZipFile(bundle(KEY))) {
      assertThat(bundle.stream().map(entry -> entry.getName().substring(FOLDER.length())))
          .containsExactlyInAnyOrder(
              "holdfast-0.1.0.jar",
              "holdfast-0.1.0.jar.asc",
              "holdfast-0.1.0.jar.sha1",
              "holdfast-0.1.0.pom",
              "holdfast-0.1.0.pom.asc",
              "holdfast-0.1.0.pom.sha1");
    }
    Path jar = folder.resolve("repository").resolve(FOLDER + "holdfast-0.1.0.jar");
    run("gpg --batch --verify \"$1.asc\" \"$1\"", jar.toString());
  }

  @Test
  void without_a_key_nothing_is_signed() throws IOException {
    try (ZipFile bundle = new ZipFile(bundle(""))) {
      assertThat(bundle.stream().map(entry -> entry.getName()))
          .hasSize(4)
          .noneMatch(name -> name.endsWith(".asc"));
    }
  }
}
