package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A separate process that runs one script after the other and exits as the last one did. */
final class StartsAndWaits {
  private StartsAndWaits() {}

  public static void main(String[] args) throws Exception {
    int exit = 0;
    for (String script : List.of(args).subList(1, args.length)) {
      Command command =
          new Command(
              List.of("sh", "-c", script), Path.of(args[0]), Map.of("PATH", System.getenv("PATH")));
      exit = ProcessTree.start(command, 1_000, (line, cut) -> {}, (line, cut) -> {}).await();
    }
    System.exit(exit);
  }
}
