package dev.holdfast.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.contract.OpenApi;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * The OpenAPI document as others read it: linters, generators of clients, a fuzzer. Their versions
 * are pinned in the folder {@code openapi} of this module; they are installed below {@code target},
 * and where that is not possible the test is left out and says so.
 */
@OnlyWithAll
public class OpenApiToolsTest extends ServerTest {
  private static final Path TOOLS = Path.of("openapi").toAbsolutePath();
  private static final Path INSTALLED = Path.of("target", "openapi").toAbsolutePath();
  private static final Duration TIMEOUT = Duration.ofMinutes(25);
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

  private static void assertDone(String tool, String folder) throws IOException {
    Path document = Files.createDirectories(INSTALLED.resolve(folder)).resolve("document.yaml");
    Files.write(document, OpenApi.yaml());
    assertDone(
        TOOLS.resolve(tool).toString(), document.toString(), document.getParent().toString());
  }

  @Test
  void linters_find_nothing_and_types_generated_from_the_document_compile() throws IOException {
    assertDone("lint", "node");
  }

  @Test
  void generated_clients_in_go_rust_and_typescript_compile() throws IOException {
    assertDone("clients", "clients");
  }

  @Test
  void what_the_document_allows_is_accepted_and_what_it_forbids_is_refused() {
    fuzz("0");
  }

  @Test
  @OnlyWithRelease
  void a_fuzzer_gets_only_responses_that_the_document_describes() {
    fuzz("5");
  }

  /** With this many examples made up for each operation, beside those that cover the schemas. */
  private void fuzz(String examples) {
    assertDone(
        TOOLS.resolve("fuzz").toString(),
        server.url().toString(),
        key(Role.ADMIN, null),
        INSTALLED.resolve("python").toString(),
        examples);
  }
}
