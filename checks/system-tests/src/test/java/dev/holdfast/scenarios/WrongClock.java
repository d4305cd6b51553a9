package dev.holdfast.scenarios;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Starts a process with a wrong wall clock, by means of faketime. */
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
        // Otherwise waits on the monotonic clock would end at once.
        .env("FAKETIME_FORCE_MONOTONIC_FIX", "0");
  }

  /** Not as its program names it: that fails where one of the same number was killed once. */
  private static String library() {
    try (Stream<Path> architectures = Files.list(Path.of("/usr/lib"))) {
      Optional<Path> library =
          architectures
              .map(folder -> folder.resolve("faketime/libfaketime.so.1"))
              .filter(Files::isReadable)
              .findFirst();
      assumeTrue(
          library.isPresent(), "faketime is not installed (on Debian: apt-get install faketime)");
      return library.orElseThrow().toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
