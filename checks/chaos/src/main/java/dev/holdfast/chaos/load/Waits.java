package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Jobs that sleep, take signals, ask a person and wait for other jobs, and who answers them. */
final class Waits {
  static final String KIND = "waiting";
  private static final String SIGNAL = "go";
  private static final String QUESTION = "ok";
  private static final int SIGNALS = 2;

  /** Some are answered too late, or never: by then an outage may have passed. */
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(8);

  private static final int AT_ONCE = 20;

  /** Of so many one is left alone: what it asks nobody answers. */
  private static final int IGNORED = 5;

  /** By then a job has asked all, or nobody has run it for a long time. */
  private static final Duration GIVEN_UP_AFTER = Duration.ofMinutes(10);

  private static final int NEVER = 1_000;

  private final Holdfast holdfast;
  private final Ledger ledger;
  private final Random random;
  private final Deque<Asked> open = new ArrayDeque<>();

  private static final class Asked {
    final JobId job;
    final long until = System.nanoTime() + GIVEN_UP_AFTER.toNanos();
    int signals;
    boolean decided;

    Asked(JobId job) {
      this.job = job;
    }
  }

  Waits(Holdfast holdfast, Ledger ledger, Random random) {
    this.holdfast = holdfast;
    this.ledger = ledger;
    this.random = random;
  }

  static Object handle(ChaosKinds.Work work, JobContext context) throws Exception {
    Records.ran(context);
    context.sleep("nap", Duration.ofMillis(work.millis()));
    int one = signal(context, "one");
    int two = signal(context, "two");
    boolean approved =
        context.approve(QUESTION, Question.of("Well?").within(ANSWERED_WITHIN)).approved();
    List<Child> children = context.spawn("kids", List.of(child(), child()));
    List<ChildEnd> ends = context.join("all", children);
    return Map.of(
        "attempt",
        context.lease().attempt(),
        "one",
        one,
        "two",
        two,
        "approved",
        approved,
        "joined",
        ends.stream().filter(each -> each.state() == JobState.SUCCEEDED).count());
  }

  private static Job child() {
    return Job.of("plain", new ChaosKinds.Work(5, 0)).maxAttempts(NEVER).maxCrashes(NEVER);
  }

  /** 0 when none came in time. */
  private static int signal(JobContext context, String id) {
    return context.await(id, SIGNAL, PayloadType.of(Integer.class), ANSWERED_WITHIN).orElse(0);
  }

  // ---- who answers

  synchronized void enqueued(List<Job> jobs) {
    jobs.stream()
        .filter(job -> job.kind().equals(KIND) && random.nextInt(IGNORED) > 0)
        .forEach(job -> open.add(new Asked(job.id())));
  }

  /**
   * Sends a signal, or decides, for some of them. What is not answered is sent again, later: the
   * database is away.
   */
  synchronized void answerSome() {
    for (int i = 0; i < AT_ONCE && !open.isEmpty(); i++) {
      Asked next = open.remove();
      try {
        if (!isAnswered(next) && System.nanoTime() - next.until < 0) {
          open.add(next);
        }
      } catch (RuntimeException unanswered) {
        open.add(next);
        return;
      }
    }
  }

  private boolean isAnswered(Asked asked) {
    if (asked.signals < SIGNALS) {
      SignalToJob signal =
          new SignalToJob(
              SIGNAL, new Json(String.valueOf(asked.signals + 1)), "key-" + asked.signals, "chaos");
      SignalToJob.Answer answer = holdfast.jobs().signal(asked.job, signal, Tenant.ANY);
      asked.signals++;
      return answer == SignalToJob.Answer.ALREADY_TERMINAL;
    }
    Decision decision = new Decision(random.nextBoolean(), "chaos", "");
    Decision.Answer answer =
        holdfast.jobs().decide(asked.job, QUESTION, decision, Role.OPERATOR, Tenant.ANY);
    if (answer == Decision.Answer.ACCEPTED) {
      ledger.decided(asked.job, decision);
    }
    // Each is decided a second time.
    boolean again = asked.decided;
    asked.decided |= answer == Decision.Answer.ACCEPTED;
    return again;
  }
}
