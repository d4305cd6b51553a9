package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.handler.Handler;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Handlers that go on as other jobs. */
class ContinueTest extends LibraryTest {
  private static final int TURNS = 5_000;

  private final Set<Integer> turns = Collections.synchronizedSet(new LinkedHashSet<>());

  private void handling(Handler<Integer> handler) {
    start(worker().concurrency(1).handle("turn", Integer.class, handler));
  }

  private JobId after(JobId first, int turns) {
    JobId last = first;
    for (int i = 0; i < turns; i++) {
      last = JobId.ofSuccessor(last);
    }
    return last;
  }

  @Test
  @OnlyWithAll
  void a_loop_of_five_thousand_turns_is_as_many_jobs_under_one_key() {
    handling(
        (turn, context) -> {
          context.step("add", () -> turns.add(turn));
          return turn < TURNS ? context.continueAs(turn + 1) : "done";
        });
    JobId first = enqueue(Job.of("turn", 1).uniqueKey("loop"));
    JobId last = after(first, TURNS - 1);
    for (int some = TURNS / 50; some <= TURNS; some += TURNS / 50) {
      int soon = some;
      until(() -> turns.size() >= soon);
    }
    await(last, JobState.SUCCEEDED);
    assertThat(result(last)).isEqualTo("\"done\"");
    assertThat(turns).hasSize(TURNS);
    assertThat(
            db.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED' AND attempt = 1"))
        .isEqualTo(TURNS);
    assertThat(job(last).run()).isEqualTo(job(first).run());
  }

  @Test
  void a_turn_that_was_cut_off_before_or_after_its_end_is_followed_by_one_job() {
    handling(
        (turn, context) -> {
          if (context.lease().attempt() == 1 && turn == 2) {
            db.expireLease(context.id().value());
            new CountDownLatch(1).await();
          }
          if (turn == 3) {
            // As if the worker had died before it had the answer.
            holdfast.jobs().settle(new Settlement.Continue(context.lease(), new Json("4")));
          }
          return turn < 5 ? context.continueAs(turn + 1) : turn;
        });
    startReaper(SWEEPING);
    JobId first = enqueue(Job.of("turn", 1));
    JobId last = after(first, 4);
    until(() -> holdfast.find(last).isPresent());
    await(last, JobState.SUCCEEDED);
    assertThat(attempts(after(first, 1)))
        .containsExactly(AttemptOutcome.CRASHED, AttemptOutcome.SUCCEEDED);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(5);
  }

  @Test
  void a_handler_that_catches_everything_goes_on_all_the_same() {
    handling(
        (turn, context) -> {
          if (turn == 2) {
            return "two";
          }
          try {
            return context.continueAs(turn + 1);
          } catch (Throwable swallowed) {
            context.event("never", "written");
            return "one";
          }
        });
    JobId first = enqueue(Job.of("turn", 1));
    until(() -> holdfast.find(after(first, 1)).isPresent());
    assertThat(result(await(after(first, 1), JobState.SUCCEEDED).id())).isEqualTo("\"two\"");
    assertThat(job(first).result()).isNull();
    assertThat(timeline(first)).containsExactly("created", "processing", "continued", "done");
  }

  @Test
  void nothing_follows_a_job_that_is_cancelled_meanwhile() {
    CountDownLatch cancelled = new CountDownLatch(1);
    handling(
        (turn, context) -> {
          context.onCancel(cancelled::countDown);
          while (cancelled.getCount() > 0) {
            try {
              cancelled.await();
            } catch (InterruptedException stopped) {
              // It finishes its turn first.
            }
          }
          return context.continueAs(turn + 1);
        });
    JobId first = enqueue(Job.of("turn", 1));
    await(first, JobState.RUNNING);
    holdfast.jobs().cancel(List.of(first), false, "enough", Tenant.ANY);
    await(first, JobState.CANCELLED);
    assertThat(holdfast.find(after(first, 1))).isEmpty();
  }

  @Test
  void what_cannot_go_on_fails_with_a_sentence() {
    start(
        worker()
            .concurrency(1)
            .handle(
                "parent",
                Json.class,
                (payload, context) ->
                    context.join(
                        "all", List.of(context.spawn("c", Job.of("turn", 1).maxAttempts(1)))))
            .handle("turn", Integer.class, (turn, context) -> context.continueAs(turn + 1))
            .handle(
                "inside",
                Json.class,
                (payload, context) -> context.step("s", Object.class, () -> context.continueAs(1)))
            .handle(
                "large",
                Json.class,
                (payload, context) -> context.continueAs("x".repeat(2 << 20))));
    JobId parent = enqueue(Job.of("parent").maxAttempts(1));
    await(parent, JobState.FAILED);
    JobId child = JobId.ofChild(parent, "c", 1, 0);
    assertThat(failure(child).code()).isEqualTo(Refusal.BAD_DEPENDENCY.name());
    assertThat(failure(child).message()).contains("would not get the result");

    JobId inside = enqueue(Job.of("inside").maxAttempts(1));
    await(inside, JobState.FAILED);
    assertThat(String.valueOf(failure(inside))).contains("in the handler itself");

    JobId large = enqueue(Job.of("large").maxAttempts(1));
    await(large, JobState.FAILED);
    assertThat(failure(large).code()).isEqualTo(Refusal.PAYLOAD_TOO_LARGE.name());
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(4);
  }
}
