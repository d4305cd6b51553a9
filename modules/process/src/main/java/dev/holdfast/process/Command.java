package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What to start: an argument list, never a line for a shell, and all of its environment. Nothing is
 * inherited, so no secret of ours reaches it.
 */
public record Command(List<String> arguments, Path folder, Map<String, String> environment) {
  public Command {
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
    if (arguments.isEmpty()) {
      throw new IllegalArgumentException("a command needs at least the program's name");
    }
  }

  String program() {
    return arguments.getFirst();
  }
}
