package dev.holdfast.supervisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A worker process to run.
 *
 * @param component the id of the worker, {@code worker:{queue}:{n}}
 * @param arguments of each of its processes; the supervisor appends its own
 * @param environment in addition to the environment of the supervisor
 */
public record WorkerCommandLine(
    String component, List<String> arguments, Map<String, String> environment) {
  public WorkerCommandLine {
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }

  /** The arguments of one process. */
  List<String> argumentsOf(String supervisor, int incarnation, boolean paused) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(
        List.of(
            "--component",
            component,
            "--supervisor",
            supervisor,
            "--incarnation",
            Integer.toString(incarnation)));
    if (paused) {
      all.add("--paused");
    }
    return all;
  }
}
