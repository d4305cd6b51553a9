package dev.holdfast.supervisor;

import java.util.List;
import java.util.Map;

/**
 * A worker process to run.
 *
 * @param component its place, {@code worker:{queue}:{n}}
 * @param arguments of each process; what tells it apart from the one before is added
 * @param environment besides our own
 */
public record WorkerCommandLine(
    String component, List<String> arguments, Map<String, String> environment) {
  public WorkerCommandLine {
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }
}
