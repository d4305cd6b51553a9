package dev.holdfast.worker.steps;

import java.time.Duration;
import java.util.Map;

/** Counts what happens to steps. */
public interface StepMetrics {
  void count(String name, Map<String, String> tags);

  void time(String name, Map<String, String> tags, Duration took);
}
