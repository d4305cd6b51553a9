package dev.holdfast.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Launch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A script of {@code sdk/}, which tests a library or a worker program in another language. */
final class SdkScript {
  static final Path ROOT = AssembledProgram.checkout();

  /**
   * The exit code of a script whose tools are neither installed nor can be downloaded. Its last
   * line says what is missing.
   */
  private static final int TOOLS_MISSING = 7;

  private static final Duration LIMIT = Duration.ofMinutes(25);

  private final List<String> command = new ArrayList<>();
  private final Map<String, String> environment;

  SdkScript(Map<String, String> environment, String script, List<String> arguments) {
    this.environment = environment;
    command.add(ROOT.resolve(script).toString());
    command.addAll(arguments);
  }

  /** Runs it; a test whose tools are missing is left out, with one line that says so. */
  void run() {
    ProcessBuilder builder = new ProcessBuilder(command).directory(ROOT.toFile());
    Launch.clean(builder.environment());
    builder.environment().put("CONFORMANCE_PROGRAM", AssembledProgram.jar().getParent().toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("CONFORMANCE_JAVA_OPTS", AssembledProgram.workerOptions());
    builder.environment().putAll(environment);
    try (ChildProcess process = ChildProcess.start(builder)) {
      int code = process.awaitExit(LIMIT);
      List<String> lines = process.lines();
      if (code == TOOLS_MISSING) {
        System.err.println(lines.getLast());
        abort(lines.getLast());
      }
      assertThat(code).as("%s%n%s", command, String.join("\n", lines)).isZero();
    }
  }
}
