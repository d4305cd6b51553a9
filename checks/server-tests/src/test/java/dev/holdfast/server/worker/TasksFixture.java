package dev.holdfast.server.worker;

import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.Map;

/** Bodies of callbacks. */
abstract class TasksFixture extends ServerTest {
  TasksFixture(TestDatabase db) {
    super(db);
  }

  static Map<String, Object> succeeded() {
    return Map.of(
        "attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED", "output", Map.of("rowCount", 7));
  }

  static Map<String, Object> failed(int attempt, String category) {
    return Map.of(
        "attempt",
        attempt,
        "workerId",
        "w1",
        "outcome",
        "FAILED",
        "error",
        Map.of("category", category, "message", "no luck"),
        "metrics",
        Map.of("cpuTimeMs", 5_000));
  }
}
