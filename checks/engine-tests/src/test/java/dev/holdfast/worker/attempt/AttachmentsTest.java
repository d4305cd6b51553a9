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
  void attachments_are_terminated_when_the_handler_should_stop() {
    context.attach(attachment("one"));
    stop(new StopReason.Cancelled("wanted"));
    until(() -> !calls.isEmpty());
    assertThat(calls).containsExactly("terminate one");
  }

  @Test
  void attachments_are_killed_at_once_when_the_lease_is_lost() {
    context.attach(attachment("one"));
    stop(new StopReason.LeaseRanOut());
    until(() -> !calls.isEmpty());
    assertThat(calls).containsExactly("kill one");
  }

  @Test
  void an_attachment_made_after_the_stop_is_killed_before_attach_returns() {
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
  void a_closed_attachment_is_not_killed() {
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
  void an_attachment_that_cannot_be_killed_does_not_keep_others_or_the_attempt_from_ending() {
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
  void an_attachment_made_during_the_stop_is_ended() throws Exception {
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
