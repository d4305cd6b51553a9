package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A process of its own that starts a stubborn program, to be killed while that runs. */
final class StartsAndWaits {
  private StartsAndWaits() {}

  public static void main(String[] args) throws Exception {
    ProcessTree.start(
            new Command(
                List.of("sh", "-c", args[1]),
                Path.of(args[0]),
                Map.of("PATH", System.getenv("PATH"))),
            1_000,
            (line, cut) -> {},
            (line, cut) -> {})
        .await();
  }
}
