package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.worker.handler.ChildFailedException;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What operators ask of steps, asked of waits and of jobs that a handler has started. */
class SentBackTest extends LibraryTest {
  private static final Duration THREE_DAYS = Duration.ofDays(3);

  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean broken;

  private void handling(Handler<Json> handler) {
    start(
        worker()
            .concurrency(1)
            .handle("waits", Json.class, handler)
            .handle(
                "child",
                Integer.class,
                (number, context) -> {
                  done.add("child " + number);
                  if (broken) {
                    throw new IllegalStateException("no");
                  }
                  return number;
                }));
  }

  private void step(JobContext context, String id) {
    context.step(id, () -> done.add(id));
  }

  private void signal(JobId id, String text) {
    holdfast.signal(id, "go", text);
  }

  @Test
  void steps_and_waits_after_the_one_that_a_job_is_sent_back_to_are_done_again() {
    handling(
        (payload, context) -> {
          step(context, "one");
          step(context, "two");
          String told = context.await("go", String.class);
          step(context, "three");
          return told;
        });
    JobId id = enqueue(Job.of("waits"));
    signal(id, "first");
    await(id, JobState.SUCCEEDED);

    ask(id, CommandAction.RESUME_FROM_STEP, "two");
    await(id, JobState.WAITING);
    signal(id, "second");
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"second\"");
    assertThat(done).containsExactly("one", "two", "three", "two", "three");
  }

  @Test
  void a_job_that_is_sent_back_to_a_wait_waits_once_more_and_once_only() {
    handling(
        (payload, context) -> {
          step(context, "one");
          String told = context.await("go", String.class);
          step(context, "two");
          context.await("end", String.class);
          return told;
        });
    JobId id = enqueue(Job.of("waits"));
    signal(id, "first");
    until(() -> done.contains("two"));
    await(id, JobState.WAITING);

    ask(id, CommandAction.RESUME_FROM_STEP, "go");
    until(() -> timeline(id).stream().filter(type -> type.equals("suspended")).count() == 2);
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
    assertThat(done).containsExactly("one", "two");
    signal(id, "second");
    holdfast.signal(id, "end", "now");
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"second\"");
    assertThat(done).containsExactly("one", "two", "two");
    assertThat(steps(id)).contains("control.resume_from_step", "control.recovery.ack");
  }

  @Test
  void a_job_that_is_sent_back_while_it_is_about_to_wait_does_not_wait_first() {
    CountDownLatch about = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    handling(
        (payload, context) -> {
          step(context, "one");
          if (about.getCount() > 0) {
            about.countDown();
            asked.await();
          }
          context.sleep("nap", THREE_DAYS);
          return null;
        });
    JobId id = enqueue(Job.of("waits"));
    until(about);
    ask(id, CommandAction.RESUME_FROM_STEP, "one");
    asked.countDown();
    until(() -> done.equals(List.of("one", "one")));
    await(id, JobState.WAITING);
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
  }

  @Test
  void jobs_are_started_anew_and_the_old_ones_are_neither_waited_for_nor_left_to_run() {
    handling(
        (payload, context) ->
            context
                .join(
                    "all",
                    context.spawn(
                        "c",
                        List.of(Job.of("child", 1), Job.of("child", 2).delay(Duration.ofDays(1)))))
                .size());
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.WAITING);
    JobId oldOne = JobId.ofChild(id, "c", 1, 0);
    JobId oldTwo = JobId.ofChild(id, "c", 1, 1);
    await(oldOne, JobState.SUCCEEDED);

    ask(id, CommandAction.HARD_RESET_STEP, "c");
    await(oldTwo, JobState.CANCELLED);
    until(() -> done.equals(List.of("child 1", "child 1")));
    await(id, JobState.WAITING);
    db.sql("UPDATE holdfast.job SET run_at = now() WHERE kind = 'child' AND state = 'PENDING'");
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("2");
    assertThat(done).containsExactly("child 1", "child 1", "child 2");
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
  }

  @Test
  void a_retry_of_a_job_whose_child_failed_waits_for_the_child_once_that_is_retried() {
    broken = true;
    handling(
        (payload, context) -> {
          step(context, "one");
          return context
              .join("all", List.of(context.spawn("c", Job.of("child", 1).maxAttempts(1))))
              .getFirst()
              .result();
        });
    JobId id = enqueue(Job.of("waits"));
    assertThat(failure(await(id, JobState.FAILED).id()).code()).isEqualTo(Failure.CHILD_FAILED);

    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    until(() -> timeline(id).stream().filter(type -> type.equals("failed")).count() == 2);
    broken = false;
    holdfast.jobs().retry(List.of(JobId.ofChild(id, "c", 1, 0)), Tenant.ANY);
    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    await(id, JobState.SUCCEEDED);
    assertThat(done).containsExactly("one", "child 1", "child 1");
  }

  @Test
  void a_retry_keeps_what_the_handler_has_made_of_a_child_that_failed() {
    broken = true;
    CountDownLatch failing = new CountDownLatch(1);
    handling(
        (payload, context) -> {
          String how;
          try {
            context.join("all", List.of(context.spawn("c", Job.of("child", 1).maxAttempts(1))));
            how = "well";
          } catch (ChildFailedException badly) {
            how = "badly";
          }
          if (failing.getCount() > 0) {
            failing.countDown();
            throw new IllegalStateException("another reason");
          }
          return how;
        });
    JobId id = enqueue(Job.of("waits").maxAttempts(1));
    await(id, JobState.FAILED);
    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"badly\"");
  }

  @Test
  void a_retry_of_a_job_that_nobody_has_decided_asks_again() {
    handling(
        (payload, context) ->
            context
                .approve(
                    "may",
                    Question.of("May it?").within(Duration.ofDays(1), Question.Unanswered.FAIL))
                .approved());
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.WAITING);
    db.sql("UPDATE holdfast.job SET wake_at = now() WHERE id = ?", id.value());
    assertThat(failure(await(id, JobState.FAILED).id()).code()).isEqualTo(Failure.NOT_DECIDED);

    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    await(id, JobState.WAITING);
    holdfast.jobs().decide(id, "may", new Decision(true, "ada", ""), Role.OPERATOR, Tenant.ANY);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("true");
  }
}
