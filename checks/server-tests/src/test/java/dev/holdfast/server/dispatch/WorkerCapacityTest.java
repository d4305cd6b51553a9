package dev.holdfast.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WorkerCapacityTest {
  private final AtomicLong nanos = new AtomicLong();
  private final WorkerCapacity capacity = new WorkerCapacity(nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void a_worker_that_never_refused_a_task_gets_as_many_as_there_are() {
    assertThat(capacity.admits(100, 1_000)).isEqualTo(100);
  }

  @Test
  void a_busy_worker_gets_the_next_task_when_one_of_its_tasks_ends() {
    capacity.refused(3);
    assertThat(capacity.admits(10, 3)).isZero();
    assertThat(capacity.admits(10, 2)).isEqualTo(1);
    assertThat(capacity.admits(10, 0)).isEqualTo(3);
  }

  @Test
  void one_more_task_is_tried_after_a_pause_and_others_as_long_as_they_are_taken() {
    capacity.refused(3);
    pass(Duration.ofSeconds(5).minusNanos(1));
    assertThat(capacity.admits(10, 3)).isZero();
    pass(Duration.ofNanos(1));
    assertThat(capacity.admits(10, 3)).isEqualTo(1);
    capacity.begun(4);
    assertThat(capacity.admits(10, 4)).isZero();
    capacity.taken();
    assertThat(capacity.admits(10, 4)).isEqualTo(1);
    capacity.begun(5);
    capacity.refused(4);
    assertThat(capacity.admits(10, 4)).isZero();
    assertThat(capacity.admits(10, 3)).isEqualTo(1);
  }

  @Test
  void a_trial_that_decides_nothing_is_repeated_after_a_pause() {
    capacity.refused(1);
    pass(Duration.ofSeconds(5));
    capacity.begun(2);
    capacity.undecided();
    assertThat(capacity.admits(10, 1)).isZero();
    pass(Duration.ofSeconds(5));
    assertThat(capacity.admits(10, 1)).isEqualTo(1);
  }
}
