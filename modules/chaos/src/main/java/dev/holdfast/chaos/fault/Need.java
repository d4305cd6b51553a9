package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.Volume;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What a fault takes that not every machine has. */
public enum Need {
  NOTHING("nothing", () -> true),
  VOLUMES("root, to mount volumes", Volume::isPossible),
  STRACE("root and strace", () -> onPath("strace") && Volume.isPossible()),
  FAKETIME("faketime", () -> Fleet.clockLibrary().isPresent());

  private final String text;
  private final BooleanSupplier probe;

  Need(String text, BooleanSupplier probe) {
    this.text = text;
    this.probe = probe;
  }

  /** As in: needs root. */
  public String text() {
    return text;
  }

  public boolean isMet() {
    return probe.getAsBoolean();
  }

  private static boolean onPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
