package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.MemoryGroup;
import dev.holdfast.chaos.fleet.Volume;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What a fault takes that not every machine has. */
public enum Need {
  NOTHING("nothing"),
  VOLUMES("root, to mount volumes"),
  STRACE("root and strace"),
  FAKETIME("faketime"),
  MEMORY_GROUP("root and control groups that limit memory");

  private final String text;

  Need(String text) {
    this.text = text;
  }

  /** As in: needs root. */
  public String text() {
    return text;
  }

  public boolean isMet() {
    return switch (this) {
      case NOTHING -> true;
      case VOLUMES -> Volume.isPossible();
      case STRACE -> onPath("strace") && Volume.isPossible();
      case FAKETIME -> Fleet.clockLibrary().isPresent();
      case MEMORY_GROUP -> MemoryGroup.isPossible();
    };
  }

  private static boolean onPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
