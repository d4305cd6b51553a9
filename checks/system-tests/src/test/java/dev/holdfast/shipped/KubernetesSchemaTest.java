package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifests are valid by the strict schemas of old and new Kubernetes versions. */
@OnlyWithRelease
class KubernetesSchemaTest {
  private static final Duration INSTALL = Duration.ofMinutes(5);
  private static final String VALIDATOR = "kubernetes-validate==1.37.0";
  private static final Path TOOLS = Path.of("target", "kubernetes-validate").toAbsolutePath();
  private static final Path MANIFESTS = Release.CHECKOUT.resolve("deploy/kubernetes");

  @TempDir Path folder;

  private static int exit(Duration limit, String... command) {
    try (ChildProcess child = ChildProcess.command(command)) {
      return child.awaitExit(limit);
    }
  }

  private static void install() {
    assumeTrue(Release.has("python3"), "Python is not installed");
    boolean installed =
        exit(INSTALL, "python3", "-m", "venv", TOOLS.toString()) == 0
            && exit(INSTALL, TOOLS.resolve("bin/pip").toString(), "-q", "install", VALIDATOR) == 0;
    assumeTrue(installed, VALIDATOR + " cannot be installed");
  }

  private static int validate(String kubernetes, Path file) {
    return exit(
        SOON,
        TOOLS.resolve("bin/kubernetes-validate").toString(),
        "--strict",
        "--kubernetes-version",
        kubernetes,
        file.toString());
  }

  @Test
  void the_manifests_are_valid() throws IOException {
    install();
    for (String kubernetes : List.of("1.29.0", "1.37.0")) {
      for (String name : List.of("holdfast.yaml", "autoscaling.yaml")) {
        assertThat(validate(kubernetes, MANIFESTS.resolve(name)))
            .as("%s with %s", name, kubernetes)
            .isZero();
      }
    }
    // A misspelled field is found.
    String wrong =
        Files.readString(MANIFESTS.resolve("holdfast.yaml"))
            .replace("terminationGracePeriodSeconds", "terminationGraceSeconds");
    assertThat(validate("1.37.0", Files.writeString(folder.resolve("wrong.yaml"), wrong)))
        .isNotZero();
  }
}
