package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.Script;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.ClassCache;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code ./holdfast} in a checkout that is built; its class cache is optional. */
@OnlyWithAll
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class LauncherTest {
  private final Path checkout;
  private final Path cache;
  private final Path program;

  LauncherTest(Processes processes) {
    checkout = processes.folder();
    cache = checkout.resolve("modules/app/target/holdfast.aot");
    program = cache.resolveSibling("installed");
  }

  @BeforeEach
  void makeCheckout() throws IOException {
    Path real = AssembledProgram.checkout();
    Files.createDirectories(cache.getParent());
    Files.createSymbolicLink(program, AssembledProgram.jar().getParent());
    Files.createDirectories(checkout.resolve("modules/app/src/main"));
    Files.createFile(checkout.resolve("modules/app/pom.xml"));
    Files.createFile(checkout.resolve("pom.xml"));
    Script.write(checkout.resolve("holdfast"), Files.readString(real.resolve("holdfast")));
    Files.createSymbolicLink(checkout.resolve("bin"), real.resolve("bin"));
    Files.createFile(cache.resolveSibling("holdfast.built"));
  }

  @Test
  void works_without_a_cache() {
    assertThat(cache).doesNotExist();
    works("");
  }

  @Test
  void works_with_a_cache_that_is_broken() throws IOException {
    Files.writeString(cache, "no cache");
    works("");
  }

  @Test
  void works_with_a_cache_that_was_made_for_another_jar() throws IOException {
    Files.delete(program);
    Files.createDirectory(program);
    Files.copy(AssembledProgram.jar(), program.resolve("holdfast.jar"));
    Files.createSymbolicLink(program.resolve("lib"), AssembledProgram.jar().resolveSibling("lib"));
    Files.copy(ClassCache.WORKER.file(), cache);
    works("");
  }

  @Test
  void works_with_options_that_exclude_a_cache() throws IOException {
    Files.copy(ClassCache.WORKER.file(), cache);
    works("-Xshare:auto");
  }

  private void works(String options) {
    ProcessBuilder builder = new ProcessBuilder("./holdfast", "--version");
    Launch.clean(builder.environment());
    builder.directory(checkout.toFile()).environment().put("HOLDFAST_JAVA_OPTS", options);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    try (ChildProcess launcher = ChildProcess.start(builder)) {
      assertThat(launcher.awaitExit(SOON)).as("%s", launcher.lines()).isZero();
      List<String> lines = launcher.lines();
      assertThat(lines).hasSize(2);
      assertThat(lines.getFirst()).startsWith("holdfast ");
      assertThat(lines.getLast()).startsWith("java ");
    }
  }
}
