package dev.holdfast.embedded;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A short-lived program, run to its end. */
final class Command {
  private static final long LIMIT_SECONDS = 120;

  record Result(int code, String output) {}

  private Command() {}

  /** A builder whose child sees none of the caller's PGDATA, PGPORT and the like, and no secret. */
  static ProcessBuilder builder(List<String> command) {
    // From the root folder: the account it runs under may not be allowed into ours.
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).directory(new File("/"));
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("PG") || name.startsWith("HOLDFAST_"));
    return builder;
  }

  /** Throws when the program cannot be started at all. */
  static Result run(List<String> command, String input) throws IOException {
    Process process = builder(command).start();
    CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS)
        .execute(process::destroyForcibly);
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // It ended without reading its input; the exit code tells why.
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.onExit().join().exitValue(), output);
  }

  static boolean succeeds(List<String> command) {
    try {
      return run(command, "").code() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  static String runOrFail(List<String> command, Path program, String input) {
    try {
      Result result = run(command, input);
      if (result.code() != 0) {
        throw new EmbeddedPostgresException(
            "%s ended with code %d: %s"
                .formatted(program, result.code(), ServerLog.lastLines(result.output())));
      }
      return result.output();
    } catch (IOException e) {
      throw new EmbeddedPostgresException(
          "cannot run %s: %s; check that the file is there and made for this platform"
              .formatted(program, e.getMessage()),
          e);
    }
  }
}
