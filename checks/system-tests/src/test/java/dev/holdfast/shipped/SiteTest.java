package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents as a website. mkdocs refuses links that lead nowhere, and pages it cannot read. */
@OnlyWithRelease
class SiteTest {
  private static final Path CHECKOUT = Path.of("../..").toAbsolutePath().normalize();

  @Test
  void the_site_is_built_without_a_warning() throws IOException {
    assumeThat(System.getenv("PATH").split(":"))
        .as("mkdocs on the path")
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mkdocs")));
    Path site = Path.of("target", "site").toAbsolutePath();
    try (ChildProcess build =
        ChildProcess.command(CHECKOUT.resolve("bin/site").toString(), site.toString())) {
      int code = build.awaitExit(SOON);
      assertThat(code).as("%s", build.lines()).isZero();
    }
    assertThat(Files.readString(site.resolve("docs/concepts.html")))
        .contains("<img alt=\"The states of a job\" src=\"pictures/states.svg\"", "<table");
    assertThat(site.resolve("docs/pictures/states.svg")).exists();
    assertThat(Files.readString(site.resolve("index.html"))).contains("docs/tutorial.html");
    try (Stream<Path> guides = Files.list(site.resolve("docs/guides"))) {
      assertThat(guides).hasSizeGreaterThan(5);
    }
  }
}
