package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.JobContext;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is attached to an attempt ends with it. */
class AttachmentsTest extends AttemptContextFixture {
  private Attachment attachment(String name) {
    return new Attachment() {
      @Override
      public void terminate() {
        calls.add("terminate " + name);
      }

      @Override
      public void kill() {
        calls.add("kill " + name);
      }
    };
  }

  @Test
  void what_is_attached_is_asked_to_end_when_the_handler_should_stop() {
    context.attach(attachment("one"));
    stop(new StopReason.Cancelled("wanted"));
    until(() -> !calls.isEmpty());
    assertThat(calls).containsExactly("terminate one");
  }

  @Test
  void what_is_attached_is_killed_at_once_when_the_lease_is_lost() {
    context.attach(attachment("one"));
    stop(new StopReason.LeaseRanOut());
    until(() -> !calls.isEmpty());
    assertThat(calls).containsExactly("kill one");
  }

  @Test
  void what_is_attached_after_the_handler_should_have_stopped_is_killed_before_it_returns() {
    stop(new StopReason.Cancelled("wanted"));
    context.attach(attachment("late"));
    assertThat(calls).containsExactly("kill late");
  }

  @Test
  void nothing_stays_attached_to_an_attempt_that_has_ended() {
    context.attach(attachment("left"));
    end();
    until(() -> !calls.isEmpty());
    context.attach(attachment("late"));
    assertThat(calls).containsExactly("kill left", "kill late");
  }

  @Test
  void what_was_closed_is_left_alone() {
    context.attach(attachment("one")).close();
    Attachment same = attachment("two");
    JobContext.Attached first = context.attach(same);
    context.attach(same);
    first.close();
    stop(new StopReason.Cancelled("wanted"));
    until(() -> !calls.isEmpty());
    assertThat(calls).containsExactly("terminate two");
  }

  @Test
  void one_that_cannot_be_killed_keeps_neither_others_nor_the_attempt_from_ending() {
    context.attach(
        new Attachment() {
          @Override
          public void terminate() {}

          @Override
          public void kill() {
            throw new AssertionError("a bad attachment");
          }
        });
    context.attach(attachment("good"));
    signal.killThen(() -> calls.add("settled"));
    until(() -> calls.contains("settled"));
    assertThat(calls).containsExactly("kill good", "settled");
  }

  @Test
  void whoever_attaches_while_the_attempt_is_stopped_is_told_by_one_of_the_two() throws Exception {
    for (int i = 0; i < 500; i++) {
      StopSignal raced = new StopSignal(job.lease());
      AtomicInteger told = new AtomicInteger();
      CyclicBarrier barrier = new CyclicBarrier(2);
      Thread stopper =
          Thread.ofVirtual()
              .start(
                  () -> {
                    meet(barrier);
                    raced.set(new StopReason.Cancelled("wanted"));
                    raced.fire();
                  });
      meet(barrier);
      raced.attach(
          new Attachment() {
            @Override
            public void terminate() {
              told.incrementAndGet();
            }

            @Override
            public void kill() {
              told.incrementAndGet();
            }
          });
      stopper.join();
      until(() -> told.get() > 0);
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
