package dev.holdfast.spring;

import dev.holdfast.WorkerBuilder;

/** A bean of this type sets what no property does, for every worker before it starts. */
@FunctionalInterface
public interface WorkerCustomizer {
  /**
   * @param name that of {@code holdfast.workers.{name}}, or {@code default}
   */
  void customize(String name, WorkerBuilder worker);
}
