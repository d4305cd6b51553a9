package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.ops.QueueStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueFiguresTest {
  private static QueueStatus queue(String name, long due, long running, @Nullable Instant paused) {
    return new QueueStatus(name, due, 0, 0, 0, running, null, null, paused, null, null, null, null);
  }

  private static QueueStatus whileAllWorkersArePaused(String name, long due) {
    return new QueueStatus(
        name, due, 0, 0, 0, 0, null, null, null, Instant.EPOCH, null, null, null);
  }

  private static @Nullable Long emptyInMs(Map<String, Double> rates, QueueStatus... queues) {
    return QueueFigures.emptyInMs(List.of(queues), name -> rates.getOrDefault(name, 0.0));
  }

  @Test
  void the_total_estimate_is_that_of_the_slowest_queue() {
    assertThat(
            emptyInMs(
                Map.of("a", 10.0, "b", 2.0), queue("a", 100, 0, null), queue("b", 30, 10, null)))
        .isEqualTo(20_000);
    assertThat(emptyInMs(Map.of(), queue("a", 0, 0, null))).isZero();
    assertThat(emptyInMs(Map.of())).isZero();
  }

  @Test
  void there_is_no_estimate_while_jobs_of_a_queue_are_not_claimed() {
    Map<String, Double> rates = Map.of("a", 500.0, "paused", 3.0);
    QueueStatus moving = queue("a", 100, 0, null);
    assertThat(emptyInMs(rates, moving, queue("unserved", 60_000, 0, null))).isNull();
    assertThat(emptyInMs(rates, moving, queue("paused", 1, 0, Instant.EPOCH))).isNull();
    assertThat(emptyInMs(rates, moving, queue("paused", 0, 0, Instant.EPOCH))).isEqualTo(0);
    assertThat(emptyInMs(rates, whileAllWorkersArePaused("a", 100))).isNull();
  }
}
