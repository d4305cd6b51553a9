package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Random;

/**
 * Jobs that go on as other jobs, a few turns each. One that knows nothing of turns sends a signal
 * by the unique key, which only the last turn takes.
 */
public final class Chains {
  public static final String KIND = "chain";

  /** The number of the last turn; the first one is 0. */
  public static final int LAST = 4;

  private static final String SIGNAL = "go";
  private static final Duration SIGNALLED_WITHIN = Duration.ofSeconds(8);
  private static final int AT_ONCE = 10;
  private static final int TRIES = 20;

  private final Holdfast holdfast;
  private final Random random;
  private final Deque<Open> open = new ArrayDeque<>();
  private int made;

  /**
   * @param number of the turn
   * @param sum of the numbers of all turns before
   */
  public record Turn(int number, int sum) {}

  private record Open(String key, int tries) {}

  Chains(Holdfast holdfast, Random random) {
    this.holdfast = holdfast;
    this.random = random;
  }

  static Kind<Turn> kind() {
    return Kind.of(KIND, Turn.class, LateWrites.after(Chains::handle));
  }

  private static Object handle(Turn turn, JobContext context) throws Exception {
    Records.ran(context);
    int number =
        context.step(
            "count",
            Integer.class,
            () -> {
              Records.stepDone(context, "count");
              return turn.number();
            });
    context.sleep("pause", Duration.ofMillis(100));
    if (number < LAST) {
      return context.continueAs(new Turn(number + 1, turn.sum() + number));
    }
    int signal =
        context.await(SIGNAL, SIGNAL, PayloadType.of(Integer.class), SIGNALLED_WITHIN).orElse(0);
    return Map.of(
        "attempt", context.lease().attempt(), "sum", turn.sum() + number, "signal", signal);
  }

  /** The first turn of another chain. */
  synchronized Job next() {
    String key = "chain-" + made++;
    open.add(new Open(key, 0));
    return Job.of(KIND, new Turn(0, 0)).uniqueKey(key);
  }

  /** Sends signals to some of them, whatever turn they are in. */
  synchronized void signalSome() {
    for (int i = 0; i < AT_ONCE && !open.isEmpty(); i++) {
      Open next = open.remove();
      if (random.nextInt(4) == 0) {
        open.add(next);
        continue;
      }
      try {
        SignalToJob.Answer answer = holdfast.signal(KIND, next.key(), SIGNAL, 7);
        // It may not be enqueued yet, or have ended.
        if (answer == SignalToJob.Answer.NO_SUCH_JOB && next.tries() < TRIES) {
          open.add(new Open(next.key(), next.tries() + 1));
        }
      } catch (RuntimeException unanswered) {
        // A second one may come, and stays in the mailbox of the last turn.
        open.add(next);
        return;
      }
    }
  }
}
