package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.check.Finding;
import java.util.List;
import java.util.Map;

/** What breaks things while jobs run. */
public interface Disruption {
  /** Returns when all is over and mended. */
  void run() throws Exception;

  /** How often each has happened. */
  Map<String, Integer> happened();

  /** What must hold of the faults themselves. */
  default List<Finding> findings() {
    return List.of();
  }
}
