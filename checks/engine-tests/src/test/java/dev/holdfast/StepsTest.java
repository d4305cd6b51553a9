package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepException;
import dev.holdfast.worker.steps.StepLoop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

class StepsTest extends LibraryTest {
  record Page(String title, int words) {}

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final String SECRET = "correct-horse-battery";
  private static final Budgets CALMLY = new Budgets(3, LONG, LONG, 2, 1);

  private final List<String> ran = new CopyOnWriteArrayList<>();

  private JobId enqueued() {
    return enqueue(Job.of("ingest"));
  }

  private Worker working(Handler<Json> handler) {
    return working(CALMLY, handler);
  }

  private Worker working(Budgets budgets, Handler<Json> handler) {
    return start(
        worker()
            .budgets(budgets)
            .redact(Scrubber.knowing(List.of(SECRET))::scrub)
            .handle("ingest", Json.class, AT_ONCE, handler));
  }

  /** What has run for a while, others know. */
  private void untilRunning(JobId id, CountDownLatch begun) {
    until(begun);
    until(
        () ->
            holdfast.queries().steps(id).stream()
                .anyMatch(step -> step.state() == StepState.RUNNING));
  }

  private int runs(String step) {
    return (int) ran.stream().filter(step::equals).count();
  }

  private String data(JobId id, String type) {
    return holdfast.queries().timeline(id).stream()
        .filter(event -> event.type().equals(type))
        .map(JobEvent::data)
        .map(Json::text)
        .findFirst()
        .orElse("none");
  }

  // ---- checkpoints

  @Test
  void a_completed_step_is_not_run_again_by_a_later_attempt() {
    AtomicInteger attempts = new AtomicInteger();
    JobId id = enqueued();
    working(
        (payload, context) -> {
          Page page =
              context.step(
                  "fetch",
                  Page.class,
                  () -> {
                    ran.add("fetch");
                    return new Page("Holdfast", 42);
                  });
          context.step("notify", () -> ran.add("notify"));
          if (attempts.incrementAndGet() == 1) {
            throw new IllegalStateException("after both");
          }
          return page;
        });
    await(id, JobState.SUCCEEDED);
    assertThat(ran).containsExactly("fetch", "notify");
    assertThat(result(id)).isEqualTo("{\"title\": \"Holdfast\", \"words\": 42}");
    assertThat(holdfast.queries().steps(id))
        .extracting(StepStatus::id, StepStatus::index, StepStatus::state)
        .containsExactly(tuple("fetch", 1, StepState.DONE), tuple("notify", 2, StepState.DONE));
  }

  @Test
  void another_worker_continues_from_the_checkpoint_of_a_lost_one() {
    CountDownLatch stuck = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    Handler<Json> handler =
        (payload, context) -> {
          String first =
              context.step(
                  "first",
                  String.class,
                  () -> {
                    ran.add("first");
                    return "kept";
                  });
          return context.step(
              "second",
              String.class,
              () -> {
                ran.add("second");
                if (runs("second") == 1) {
                  stuck.countDown();
                  never.await();
                }
                return first + " and used";
              });
        };
    JobId id = enqueued();
    Worker first = working(handler);
    untilRunning(id, stuck);
    takeAway(id);
    Worker second = working(handler);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"kept and used\"");
    assertThat(runs("first")).isEqualTo(1);
    assertThat(data(id, EventType.STEP_FAILED)).contains("\"stepId\": \"second\"", "lost");
    // By whichever of the two has it now.
    assertThat(Stream.of(first, second).flatMap(one -> one.metrics().snapshot().keySet().stream()))
        .anyMatch(
            name -> name.startsWith(StepLoop.ATTEMPTS) && name.contains("outcome=\"interrupted\""));
  }

  @Test
  void a_step_runs_once_in_an_attempt() {
    JobId id = enqueued();
    working(
        (payload, context) -> {
          context.step("same", () -> ran.add("same"));
          context.step("same", () -> ran.add("same"));
          return null;
        });
    until(() -> job(id).state().isTerminal());
    assertThat(failure(id).message()).contains("id of its own");
    assertThat(runs("same")).isEqualTo(1);
  }

  @Test
  void a_step_that_is_done_soon_is_one_row_and_a_step_that_takes_long_is_seen_to_run() {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    JobId id = enqueued();
    working(
        (payload, context) -> {
          context.step("soon", () -> ran.add("soon"));
          return context.step(
              "slow",
              String.class,
              () -> {
                begun.countDown();
                goOn.await();
                return "made";
              });
        });
    untilRunning(id, begun);
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isEqualTo(1);
    assertThat(steps(id)).containsExactly("started", "finished", "started");
    goOn.countDown();
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id)).containsExactly("started", "finished", "started", "finished");
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isEqualTo(2);
  }

  @Test
  void what_a_step_reports_comes_between_its_start_and_its_end() {
    JobId id = enqueued();
    working(
        (payload, context) -> {
          context.step("one", () -> context.progress(50, "half"));
          context.step("two", () -> context.event("halved", "by two"));
          return null;
        });
    await(id, JobState.SUCCEEDED);
    assertThat(timeline(id))
        .containsSubsequence(
            EventType.STEP_STARTED,
            EventType.PROGRESS,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED,
            "halved",
            EventType.STEP_FINISHED);
  }

  @Test
  void a_step_whose_worker_died_before_it_was_reported_runs_again_and_uses_no_budget() {
    JobId id = enqueued();
    working(
        new Budgets(1, LONG, LONG, 2, 0),
        (payload, context) -> {
          context.step("first", () -> ran.add("first"));
          context.step(
              "second",
              () -> {
                ran.add("second");
                if (runs("second") == 1) {
                  takeAway(id);
                  new CountDownLatch(1).await();
                }
              });
          return "made";
        });
    await(id, JobState.SUCCEEDED);
    assertThat(ran).containsExactly("first", "second", "second");
    assertThat(holdfast.queries().steps(id))
        .extracting(StepStatus::id, StepStatus::attempt)
        .containsExactly(tuple("first", 1), tuple("second", 1));
    assertThat(steps(id))
        .containsExactly("started", "finished", "resume.from_step", "started", "finished");
  }

  // ---- healing

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_step_that_hangs_is_interrupted_and_completed_by_the_next_attempt() {
    JobId id = enqueued();
    Worker worker =
        working(
            new Budgets(3, LONG, AMPLE, 2, 1),
            (payload, context) ->
                context.step(
                    "embed",
                    Integer.class,
                    () -> {
                      ran.add("embed");
                      if (runs("embed") == 1) {
                        new CountDownLatch(1).await();
                      }
                      return 7;
                    }));
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id))
        .containsExactly("started", "failed", "self_heal.triggered", "started", "finished");
    assertThat(data(id, EventType.STEP_FAILED)).contains("stuck_no_progress", "no sign of life");
    assertThat(job(id).failures()).isZero();
    assertThat(
            worker
                .metrics()
                .value(
                    StepLoop.IDLE_TIMEOUTS
                        + "{class=\"stuck_no_progress\",strategy=\"soft_reset\"}"))
        .isEqualTo(1);
    assertThat(worker.metrics().snapshot())
        .containsKey(
            "task.self_heal.recovered_total{class=\"stuck_no_progress\",strategy=\"soft_reset\"}");
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void activity_keeps_a_slow_step_running() {
    JobId id = enqueued();
    working(
        new Budgets(1, LONG, AMPLE, 2, 0),
        (payload, context) ->
            context.step(
                "embed",
                String.class,
                () -> {
                  for (int i = 0; i < 12; i++) {
                    Thread.sleep(AMPLE.dividedBy(10));
                    context.alive();
                  }
                  return "slow";
                }));
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id)).containsExactly("started", "finished");
  }

  @Test
  void a_step_that_fails_repeatedly_restarts_the_handler_and_then_requeues_the_job() {
    JobId id = enqueued();
    working(
        (payload, context) -> {
          ran.add("handler");
          context.step("first", () -> ran.add("first"));
          return context.step(
              "second",
              String.class,
              () -> {
                ran.add("second");
                if (runs("second") < 6) {
                  throw new IllegalStateException("the index is locked, token=" + SECRET);
                }
                return "made";
              });
        });
    await(id, JobState.SUCCEEDED);
    // Two alike → reset; two more → queue; there two alike → no reset is left → queue ... done.
    assertThat(runs("first")).isEqualTo(1);
    assertThat(runs("handler")).isGreaterThanOrEqualTo(3);
    assertThat(steps(id))
        .contains("self_heal.escalated", "self_heal.exhausted")
        .endsWith("started", "finished");
    assertThat(timeline(id)).contains(EventType.RETRY_SCHEDULED);
    assertThat(holdfast.queries().steps(id).getLast().resets()).isEqualTo(1);
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.event WHERE data::text LIKE ?", "%" + SECRET + "%"))
        .isZero();
  }

  @Test
  void a_deterministic_failure_fails_the_job_at_once() {
    JobId id = enqueued();
    working(
        (payload, context) ->
            context.step(
                "deploy",
                String.class,
                () -> {
                  ran.add("deploy");
                  throw new StepException(FailureClass.DETERMINISTIC_POLICY, "not on a Sunday");
                }));
    await(id, JobState.FAILED);
    assertThat(runs("deploy")).isEqualTo(1);
    assertThat(failure(id).code()).isEqualTo("DETERMINISTIC_POLICY");
    assertThat(steps(id)).containsExactly("started", "failed", "self_heal.exhausted");
    assertThat(job(id).failures()).isZero();
  }

  @Test
  void a_step_failure_that_is_not_retryable_is_final() {
    JobId id = enqueued();
    working(
        (payload, context) ->
            context.step(
                "parse",
                String.class,
                () -> {
                  throw FailedException.of(FailureCategory.DATA_QUALITY, "BAD", "no such column");
                }));
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("DETERMINISTIC_CONTRACT");
  }

  @Test
  void a_cancelled_job_stops_in_the_middle_of_a_step() {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    JobId id = enqueued();
    working(
        (payload, context) ->
            context.step(
                "embed",
                String.class,
                () -> {
                  begun.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException stopped) {
                    interrupted.countDown();
                    throw stopped;
                  }
                  return "never";
                }));
    until(begun);
    holdfast.cancel(id, "not needed");
    await(id, JobState.CANCELLED);
    until(interrupted);
    assertThat(steps(id)).containsExactly("started", "failed");
    assertThat(holdfast.queries().steps(id).getFirst().state()).isEqualTo(StepState.INTERRUPTED);
  }

  // ---- operators

  @Test
  void a_job_that_was_paused_before_it_ran_waits_before_its_first_step() {
    JobId id = enqueued();
    ask(id, CommandAction.PAUSE, null);
    working((payload, context) -> context.step("embed", String.class, () -> "made"));
    until(() -> job(id).state() == JobState.RUNNING);
    ask(id, CommandAction.RESUME, null);
    await(id, JobState.SUCCEEDED);
    assertThat(timeline(id))
        .containsSubsequence("task.control.resume", EventType.STEP_STARTED, EventType.DONE);
  }

  @Test
  void an_operator_can_resume_from_an_earlier_step() {
    CountDownLatch stuck = new CountDownLatch(1);
    JobId id = enqueued();
    working(
        (payload, context) -> {
          context.step("one", () -> ran.add("one"));
          context.step("two", () -> ran.add("two"));
          return context.step(
              "three",
              String.class,
              () -> {
                ran.add("three");
                if (runs("three") == 1) {
                  stuck.countDown();
                  new CountDownLatch(1).await();
                }
                return "made";
              });
        });
    until(stuck);
    ask(id, CommandAction.RESUME_FROM_STEP, "two");
    await(id, JobState.SUCCEEDED);
    assertThat(ran).containsExactly("one", "two", "three", "two", "three");
    assertThat(steps(id))
        .containsSubsequence(
            "control.resume_from_step", "resume.from_step", "control.recovery.ack", "started");
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
  }

  @Test
  void an_operator_can_retry_a_step_at_once() {
    CountDownLatch stuck = new CountDownLatch(1);
    JobId id = enqueued();
    working(
        (payload, context) ->
            context.step(
                "embed",
                String.class,
                () -> {
                  ran.add("embed");
                  if (runs("embed") == 1) {
                    stuck.countDown();
                    new CountDownLatch(1).await();
                  }
                  return "made";
                }));
    untilRunning(id, stuck);
    ask(id, CommandAction.RETRY_STEP, "embed");
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id))
        .containsExactly(
            "started",
            "control.retry_step",
            "failed",
            "control.recovery.ack",
            "started",
            "finished");
  }
}
