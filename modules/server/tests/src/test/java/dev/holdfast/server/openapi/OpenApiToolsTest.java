package dev.holdfast.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.contract.OpenApi;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * The OpenAPI document as others read it: linters, a generator of clients, a fuzzer. Their versions
 * are pinned in the folder {@code openapi} of this module; they are installed below {@code target},
 * and where that is not possible the test is left out and says so.
 */
@OnlyWithRelease
public class OpenApiToolsTest extends ServerTest {
  private static final Path TOOLS = Path.of("openapi").toAbsolutePath();
  private static final Path INSTALLED = Path.of("target", "openapi").toAbsolutePath();
  private static final Duration TIMEOUT = Duration.ofMinutes(10);
  private static final int CANNOT_INSTALL = 77;

  OpenApiToolsTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.requestsPerSecond(0);
  }

  private static void assertDone(String... command) {
    try (ChildProcess process = ChildProcess.command(command)) {
      int code = process.awaitExit(TIMEOUT);
      String said = String.join("\n", process.lines());
      assumeTrue(code != CANNOT_INSTALL, said);
      assertThat(code).as(said).isZero();
    }
  }

  @Test
  void linters_find_nothing_and_a_client_generated_from_the_document_compiles() throws IOException {
    Path document = Files.createDirectories(INSTALLED).resolve("document.yaml");
    Files.write(document, OpenApi.yaml());
    assertDone(
        TOOLS.resolve("lint").toString(),
        document.toString(),
        INSTALLED.resolve("node").toString());
  }

  @Test
  void a_fuzzer_gets_only_responses_that_the_document_describes() {
    assertDone(
        TOOLS.resolve("fuzz").toString(),
        server.url().toString(),
        key(Role.ADMIN, null),
        INSTALLED.resolve("python").toString());
  }
}
