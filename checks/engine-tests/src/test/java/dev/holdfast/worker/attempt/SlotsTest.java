package dev.holdfast.worker.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SlotsTest {
  private final TestHost host = new TestHost(new MemorySource());
  private final AtomicInteger woken = new AtomicInteger();
  private final Slots slots = new Slots(2, woken::incrementAndGet);

  private AttemptExecutor run() {
    return host.run(Samples.job(), (Json payload, JobContext context) -> null);
  }

  @Test
  void there_are_never_more_attempts_than_the_limit() {
    AttemptExecutor first = run();
    assertThat(slots.add(first)).isTrue();
    assertThat(slots.add(run())).isTrue();
    assertThat(slots.add(run())).isFalse();
    assertThat(slots.used()).isEqualTo(2);
    assertThat(slots.free()).isZero();
    slots.remove(first);
    assertThat(slots.free()).isEqualTo(1);
    assertThat(slots.add(run())).isTrue();
  }

  @Test
  void a_slot_is_free_when_the_handler_returns_and_the_lease_is_kept_until_the_settle() {
    AttemptExecutor first = run();
    slots.add(first);
    slots.add(run());
    slots.ending(first);
    assertThat(slots.free()).isEqualTo(1);
    assertThat(slots.all()).contains(first);
    assertThat(slots.add(run())).isTrue();
    assertThat(slots.add(run())).isFalse();
    slots.remove(first);
    assertThat(slots.free()).isZero();
    assertThat(slots.used()).isEqualTo(2);
  }

  @Test
  void the_claim_loop_is_woken_when_a_slot_is_free_that_it_waits_for() {
    AttemptExecutor first = run();
    AttemptExecutor second = run();
    slots.add(first);
    slots.add(second);
    assertThat(slots.freeOrWake()).isZero();
    slots.ending(first);
    assertThat(woken).hasValue(1);
    assertThat(slots.freeOrWake()).isEqualTo(1);
    slots.ending(second);
    assertThat(woken).as("only a settled job is worth another claim").hasValue(1);
    slots.remove(first);
    slots.remove(second);
    assertThat(woken).hasValue(3);
  }

  @Test
  void in_a_backlog_the_claim_loop_is_woken_when_enough_slots_are_free() {
    AttemptExecutor first = run();
    AttemptExecutor second = run();
    slots.add(first);
    slots.add(second);
    slots.wakeAt(2);
    slots.ending(first);
    slots.remove(first);
    assertThat(woken).hasValue(0);
    slots.ending(second);
    assertThat(woken).hasValue(1);
  }

  @Test
  void an_attempt_without_a_thread_leaves_its_slot_and_wakes_no_claim() {
    AttemptExecutor first = run();
    slots.add(first);
    slots.add(run());
    assertThat(slots.freeOrWake()).isZero();
    slots.withdraw(first);
    assertThat(slots.free()).isEqualTo(1);
    assertThat(woken).hasValue(0);
  }

  @Test
  void unsettled_attempts_are_bounded() {
    Slots many = new Slots(2_000, () -> {});
    for (int i = 0; i < 1_000; i++) {
      AttemptExecutor run = run();
      many.add(run);
      many.ending(run);
    }
    assertThat(many.free()).isZero();
    // An attempt that was claimed before is still added.
    assertThat(many.add(run())).isTrue();
  }

  @Test
  void removing_twice_frees_one_slot() {
    AttemptExecutor first = run();
    slots.add(first);
    slots.add(run());
    slots.remove(first);
    slots.remove(first);
    assertThat(slots.used()).isEqualTo(1);
  }

  @Test
  void once_closed_no_attempt_is_added() {
    AttemptExecutor first = run();
    slots.add(first);
    slots.close();
    assertThat(slots.add(run())).isFalse();
    assertThat(slots.all()).containsExactly(first);
  }

  @Test
  void await_empty_returns_as_soon_as_it_is_empty() throws Exception {
    assertThat(slots.awaitEmpty(Duration.ZERO)).isTrue();
    AttemptExecutor first = run();
    slots.add(first);
    assertThat(slots.awaitEmpty(Duration.ofMillis(10))).isFalse();
    CompletableFuture<Boolean> empty =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                // Longer than nanoseconds can count.
                return slots.awaitEmpty(Duration.ofSeconds(Long.MAX_VALUE));
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    slots.remove(first);
    assertThat(empty.get(120, TimeUnit.SECONDS)).isTrue();
  }
}
