package dev.holdfast.workspace;

import java.util.List;
import java.util.Map;

/**
 * What runs a step: the operator says which command a name stands for, a payload only names it.
 *
 * @param environment its variables besides those about its step
 */
public record RuntimeCommand(List<String> command, Map<String, String> environment) {
  public RuntimeCommand {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a runtime needs at least the program's name");
    }
  }
}
