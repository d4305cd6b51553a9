package dev.holdfast.queue.jdbc;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Sees every verb that ran, how long it took and what went wrong. */
@FunctionalInterface
public interface StatementObserver {
  StatementObserver NONE = (verb, took, error) -> {};

  void ran(String verb, Duration took, @Nullable Throwable error);
}
