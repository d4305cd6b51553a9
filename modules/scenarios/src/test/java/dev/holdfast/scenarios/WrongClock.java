package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Starts a process whose clock on the wall is wrong, by means of faketime. */
final class WrongClock {
  private WrongClock() {}

  /** Not by the faketime program: it stays between us and the process, and keeps the signals. */
  static Launch off(Launch launch, String by) {
    return launch
        .env("LD_PRELOAD", library())
        .env("FAKETIME", by)
        // Both names it has had. A wrong clock is set wrong; it does not run wrong.
        .env("DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        // Else it takes waits that end by the monotonic clock for long over.
        .env("FAKETIME_FORCE_MONOTONIC_FIX", "0");
  }

  private static String library() {
    boolean installed =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "faketime")));
    assumeTrue(installed, "faketime is not installed (on Debian: apt-get install faketime)");
    try (ChildProcess asked =
        ChildProcess.command("faketime", "-f", "+1h", "sh", "-c", "echo \"<$LD_PRELOAD>\"")) {
      return asked.awaitLine("<(.+)>", SOON).group(1);
    }
  }
}
