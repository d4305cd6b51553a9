package dev.holdfast.worker.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpkeepTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualNanos nanos = new ManualNanos();
  private final List<String> ran = new ArrayList<>();

  private Periodic every(Duration interval, String name) {
    return new Periodic(
        name,
        () -> {
          ran.add(name);
          return interval;
        },
        interval);
  }

  private Periodic failing(String name, RuntimeException with) {
    return new Periodic(
        name,
        () -> {
          ran.add(name);
          throw with;
        },
        SECOND);
  }

  private Periodic broken(String name) {
    return new Periodic(
        name,
        () -> {
          ran.add(name);
          throw new NoClassDefFoundError("store/Client");
        },
        SECOND);
  }

  private Upkeep upkeep(Periodic... tasks) {
    return new Upkeep(List.of(tasks), nanos);
  }

  @Test
  void every_task_runs_at_once_in_their_order_and_then_when_it_is_due() {
    Upkeep upkeep = upkeep(every(SECOND.multipliedBy(5), "sweep"), every(SECOND, "schedules"));
    assertThat(upkeep.runDue()).isEqualTo(SECOND);
    assertThat(ran).containsExactly("sweep", "schedules");
    nanos.advance(SECOND);
    assertThat(upkeep.runDue()).isEqualTo(SECOND);
    assertThat(ran).containsExactly("sweep", "schedules", "schedules");
    nanos.advance(SECOND.multipliedBy(4));
    upkeep.runDue();
    assertThat(ran).endsWith("sweep", "schedules");
  }

  @Test
  void a_task_with_more_to_do_runs_again_and_the_others_do_not() {
    Upkeep upkeep = upkeep(every(SECOND, "sweep"), every(Duration.ZERO, "retention"));
    assertThat(upkeep.runDue()).isZero();
    assertThat(upkeep.runDue()).isZero();
    assertThat(ran).containsExactly("sweep", "retention", "retention");
  }

  @Test
  void the_interval_counts_from_the_end_of_a_round() {
    Upkeep upkeep =
        upkeep(
            new Periodic(
                "slow",
                () -> {
                  nanos.advance(SECOND.multipliedBy(3));
                  return SECOND;
                },
                SECOND));
    assertThat(upkeep.runDue()).isEqualTo(SECOND);
  }

  @Test
  void a_task_that_fails_is_tried_again_and_keeps_no_other_from_running() {
    Upkeep upkeep =
        upkeep(
            failing("broken", new IllegalStateException("permission denied")),
            every(SECOND.multipliedBy(5), "sweep"));
    assertThat(upkeep.runDue()).isBetween(Duration.ofMillis(750), Duration.ofMillis(1_250));
    nanos.advance(Duration.ofMillis(1_250));
    upkeep.runDue();
    assertThat(ran).containsExactly("broken", "sweep", "broken");
  }

  @Test
  void a_task_that_cannot_load_its_classes_keeps_no_other_from_running() {
    upkeep(broken("retention"), every(SECOND, "schedules")).runDue();
    assertThat(ran).containsExactly("retention", "schedules");
  }

  @Test
  void a_busy_source_is_logged_and_an_unreachable_one_is_not_logged_again() {
    IllegalStateException cause = new IllegalStateException();
    try (CapturedLog log = CapturedLog.of(Loop.class)) {
      upkeep(failing("sweep", new SourceUnavailableException("away", cause))).runDue();
      assertThat(log.lines(Level.WARN)).isEmpty();
      upkeep(failing("sweep", new SourceBusyException("reap: locked", cause))).runDue();
      assertThat(log.lines(Level.WARN)).containsExactly("sweep: reap: locked (trying again)");
      assertThat(log.lines(Level.ERROR)).isEmpty();
    }
  }

  @Test
  void without_tasks_it_needs_no_thread() throws InterruptedException {
    try (Upkeep upkeep = upkeep().start()) {
      upkeep.end();
      assertThat(upkeep.awaitEnd(Duration.ZERO)).isTrue();
    }
  }
}
