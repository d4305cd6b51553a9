package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob.Answer;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WaitsTest extends LibraryTest {
  private static final Duration THREE_DAYS = Duration.ofDays(3);

  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger calls = new AtomicInteger();

  private record Greeting(String text) {}

  /** A worker with one slot, for jobs that wait and for others. */
  private void handling(Handler<Json> handler) {
    start(
        worker()
            .concurrency(1)
            .handle(
                "waits",
                Json.class,
                (payload, context) -> {
                  calls.incrementAndGet();
                  return handler.handle(payload, context);
                })
            .handle("double", Integer.class, (number, context) -> number * 2)
            .handle(
                "fails",
                Json.class,
                (payload, context) -> {
                  throw new IllegalStateException("no");
                }));
  }

  private void step(JobContext context, String id) {
    context.step(id, () -> done.add(id));
  }

  private JobId waiting(Handler<Json> handler) {
    handling(handler);
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.WAITING);
    return id;
  }

  private void passTime(JobId job) {
    db.sql(
        "UPDATE holdfast.job SET wake_at = wake_at - interval '400 days' WHERE id = ?",
        job.value());
  }

  // ---- sleep

  @Test
  void a_handler_continues_after_a_sleep_past_what_is_done_and_its_slot_is_free_meanwhile() {
    JobId id =
        waiting(
            (payload, context) -> {
              step(context, "before");
              context.sleep("nap", THREE_DAYS);
              step(context, "after");
              return done.size();
            });
    assertThat(result(await(enqueue(Job.of("double", 21)), JobState.SUCCEEDED).id()))
        .isEqualTo("42");
    passTime(id);
    await(id, JobState.SUCCEEDED);
    assertThat(done).containsExactly("before", "after");
    assertThat(calls).hasValue(2);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.SUSPENDED, AttemptOutcome.SUCCEEDED);
  }

  @Test
  void a_short_sleep_is_over_soon_after_its_time() {
    handling(
        (payload, context) -> {
          context.sleep("nap", Duration.ofMillis(200));
          return "up";
        });
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.SUCCEEDED);
    Instant due = job(id).runAt();
    Instant resumed =
        holdfast.queries().timeline(id).stream()
            .filter(event -> event.type().equals("resumed"))
            .findFirst()
            .orElseThrow()
            .at();
    assertThat(Duration.between(due, resumed)).isLessThan(AMPLE);
  }

  // ---- signals

  @Test
  void a_signal_ends_a_wait_with_what_was_sent() {
    JobId id =
        waiting(
            (payload, context) ->
                context.await("hello", Greeting.class, THREE_DAYS).orElseThrow().text());
    assertThat(holdfast.signal(id, "hello", new Greeting("hi"))).isEqualTo(Answer.ACCEPTED);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"hi\"");
  }

  @Test
  void a_signal_that_came_before_costs_no_attempt() {
    JobId id = enqueue(Job.of("waits"));
    holdfast.signal(id, "hello", new Greeting("one"));
    holdfast.signal(id, "hello", new Greeting("two"));
    handling(
        (payload, context) ->
            context.await("hello", Greeting.class).text()
                + context
                    .await("second", "hello", PayloadType.of(Greeting.class), null)
                    .orElseThrow()
                    .text());
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"onetwo\"");
    assertThat(job(id).attempt()).isEqualTo(1);
  }

  @Test
  void a_wait_without_a_signal_in_time_is_empty() {
    JobId id =
        waiting(
            (payload, context) ->
                context.await("hello", Greeting.class, THREE_DAYS).isEmpty() ? "nothing" : "?");
    passTime(id);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"nothing\"");
  }

  @Test
  void a_job_is_told_by_its_unique_key() {
    handling((payload, context) -> context.await("hello", Greeting.class).text());
    JobId id = enqueue(Job.of("waits").uniqueKey("order-7"));
    await(id, JobState.WAITING);
    assertThat(holdfast.signal("waits", "order-8", "hello", new Greeting("x")))
        .isEqualTo(Answer.NO_SUCH_JOB);
    assertThat(holdfast.signal("waits", "order-7", "hello", new Greeting("x")))
        .isEqualTo(Answer.ACCEPTED);
    await(id, JobState.SUCCEEDED);
  }

  // ---- approvals

  @Test
  void a_decision_ends_a_wait_and_says_who_made_it() {
    JobId id =
        waiting(
            (payload, context) -> {
              Approval approval = context.approve("limit", Question.of("Raise it?"));
              return approval.approved() + " " + approval.by() + " " + approval.comment();
            });
    assertThat(
            holdfast
                .jobs()
                .decide(id, "limit", new Decision(true, "ada", "fine"), Role.OPERATOR, Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"true ada fine\"");
  }

  @Test
  void a_secret_in_a_question_is_redacted() {
    start(
        worker()
            .redact(Scrubber.knowing(List.of("tell-nobody-9"))::scrub)
            .handle(
                "waits",
                Json.class,
                (payload, context) ->
                    context
                        .approve(
                            "limit",
                            Question.of("Raise it with tell-nobody-9?")
                                .details("by password=hunter22"))
                        .approved()));
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.WAITING);
    OpenWait.Asked asked =
        Objects.requireNonNull(Objects.requireNonNull(job(id).waitsFor()).question());
    assertThat(asked.text()).isEqualTo("Raise it with ***?");
    assertThat(asked.details()).isEqualTo("by password=***");
    assertThat(holdfast.queries().timeline(id).toString())
        .contains("Raise it with ***?")
        .doesNotContain("tell-nobody-9", "hunter22");
  }

  @Test
  void what_happens_when_nobody_decides_in_time_is_for_the_question_to_say() {
    handling(
        (payload, context) -> {
          Question question =
              Question.of("?")
                  .within(
                      THREE_DAYS, Question.Unanswered.valueOf(payload.text().replace("\"", "")));
          return context.approve("q", question).approved();
        });
    for (Question.Unanswered then : Question.Unanswered.values()) {
      JobId id = enqueue(Job.of("waits", then.name()));
      await(id, JobState.WAITING);
      passTime(id);
      switch (then) {
        case APPROVE -> assertThat(result(await(id, JobState.SUCCEEDED).id())).isEqualTo("true");
        case REJECT -> assertThat(result(await(id, JobState.SUCCEEDED).id())).isEqualTo("false");
        case FAIL -> {
          await(id, JobState.FAILED);
          assertThat(failure(id).code()).isEqualTo(Failure.NOT_DECIDED);
        }
      }
    }
  }

  // ---- children

  @Test
  void a_parent_gets_the_results_of_its_children_in_order_with_one_slot_for_all() {
    handling(
        (payload, context) ->
            context.map(
                "doubled",
                IntStream.range(0, 30).boxed().toList(),
                number -> Job.of("double", number),
                Integer.class));
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id))
        .isEqualTo(IntStream.range(0, 30).mapToObj(n -> "" + n * 2).toList().toString());
    assertThat(job(id).attempt()).isEqualTo(2);
  }

  @Test
  void children_are_started_once_however_often_the_handler_is_called() {
    JobId id =
        waiting(
            (payload, context) -> {
              Child child = context.spawn("one", Job.of("double", 4));
              context.sleep("nap", THREE_DAYS);
              return context.join("both", List.of(child)).getFirst().result();
            });
    passTime(id);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("8");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE kind = 'double'")).isEqualTo(1);
  }

  @Test
  void a_child_that_fails_fails_its_parent_unless_the_handler_takes_it() {
    handling(
        (payload, context) ->
            context.map(
                "all", List.of(1), number -> Job.of("fails").maxAttempts(1), Integer.class));
    JobId id = enqueue(Job.of("waits").maxAttempts(5));
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.CHILD_FAILED);
    assertThat(failure(id).message()).contains("no");
  }

  @Test
  void the_first_child_to_end_ends_a_wait_for_any() {
    handling(
        (payload, context) -> {
          List<Child> children = new ArrayList<>();
          children.add(context.spawn("late", Job.of("double", 1).delay(THREE_DAYS)));
          children.add(context.spawn("soon", Job.of("double", 2)));
          return context.any("first", children).result();
        });
    JobId id = enqueue(Job.of("waits"));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("4");
  }

  // ---- what could go wrong

  @Test
  void a_handler_that_catches_everything_is_suspended_all_the_same() {
    JobId id =
        waiting(
            (payload, context) -> {
              try {
                context.sleep("nap", THREE_DAYS);
              } catch (Throwable swallowed) {
                done.add("swallowed");
                try {
                  step(context, "must-not-run");
                } catch (Throwable again) {
                  done.add("again");
                }
                return "not the result";
              }
              return "the result";
            });
    until(() -> done.size() == 2);
    assertThat(done).containsExactly("swallowed", "again");
    assertThat(job(id).state()).isEqualTo(JobState.WAITING);
    passTime(id);
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"the result\"");
  }

  @Test
  void waits_belong_into_the_handler_itself() {
    handling(
        (payload, context) -> {
          context.step("s", () -> context.sleep("in-step", THREE_DAYS));
          return null;
        });
    JobId id = enqueue(Job.of("waits").maxAttempts(1));
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("in-step").contains("neither in a step");
  }

  @Test
  void an_id_is_for_one_wait() {
    handling(
        (payload, context) -> {
          context.sleep("twice", Duration.ZERO);
          context.sleep("twice", Duration.ZERO);
          return null;
        });
    JobId id = enqueue(Job.of("waits").maxAttempts(1));
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("'twice'").contains("id of its own");
  }

  @Test
  void an_id_stays_what_it_was_when_the_handler_changes() {
    handling(
        (payload, context) -> {
          if (calls.get() == 1) {
            context.sleep("was-a-wait", Duration.ZERO);
            step(context, "was-a-step");
            throw context.snooze(Duration.ZERO);
          } else if (calls.get() == 2) {
            assertThatThrownBy(() -> step(context, "was-a-wait"))
                .hasMessageContaining("was a wait before");
            Child unused = context.spawn("starts", Job.of("double", 1));
            throw context.snooze(Duration.ZERO);
          } else if (calls.get() == 3) {
            Child more = context.spawn("more", Job.of("double", 1));
            assertThatThrownBy(() -> context.any("starts", List.of(more)))
                .hasMessageContaining("was a start of jobs before");
            throw context.snooze(Duration.ZERO);
          }
          context.sleep("was-a-step", Duration.ZERO);
          return null;
        });
    JobId id = enqueue(Job.of("waits").maxAttempts(1));
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("'was-a-step' was a step before");
  }

  @Test
  void what_was_logged_before_a_wait_is_written() {
    JobId id =
        waiting(
            (payload, context) -> {
              context.log("before the wait");
              context.sleep("nap", THREE_DAYS);
              return null;
            });
    assertThat(holdfast.queries().log(id, LogCursor.START).toString()).contains("before the wait");
  }

  @Test
  void an_attempt_that_is_tried_again_finds_what_its_waits_have_brought() {
    JobId id =
        waiting(
            (payload, context) -> {
              Optional<Greeting> greeting = context.await("hello", Greeting.class, THREE_DAYS);
              if (calls.get() < 3) {
                throw new IllegalStateException("fails after the wait");
              }
              return greeting.orElseThrow().text();
            });
    holdfast.signal(id, "hello", new Greeting("kept"));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"kept\"");
    assertThat(attempts(id))
        .containsExactly(AttemptOutcome.SUSPENDED, AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
  }

  @Test
  void a_job_that_waits_is_cancelled_at_once() {
    JobId id =
        waiting(
            (payload, context) -> {
              context.sleep("nap", THREE_DAYS);
              return null;
            });
    holdfast.cancel(id, "no need");
    assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(calls).hasValue(1);
  }
}
