package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.steps.Budgets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Handlers that survive the death of their workers, and others in which that is found. */
@ExtendWith(HoldfastExtension.class)
class WorkerAssertTest {
  private final AtomicInteger done = new AtomicInteger();
  private Holdfast holdfast;

  @BeforeEach
  void open(Holdfast opened) {
    holdfast = opened;
  }

  private WorkerBuilder worker(Handler<String> handler) {
    return holdfast
        .worker("default")
        .handle("order", String.class, RetryPolicy.NONE, handler)
        .handle(
            "part",
            Integer.class,
            (part, context) -> context.step("twice", Integer.class, () -> part * 2));
  }

  private WorkerAssert running(Handler<String> handler) {
    return HoldfastAssertions.assertThat(holdfast).running(worker(handler));
  }

  private static List<String> survives(WorkerAssert asserted) {
    return asserted.survivesACrashAfterEveryStep(Job.of("order", "tea"));
  }

  private void assertFound(Handler<String> handler, String... said) {
    assertThatThrownBy(() -> survives(running(handler).counting("mails", done::get)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContainingAll(said);
  }

  private Object everything(String order, JobContext context) {
    String receipt = context.step("charge", String.class, () -> "receipt of " + order);
    context.sleep("cool-off", Duration.ofDays(3));
    Optional<String> said = context.await("said", String.class, Duration.ofDays(7));
    boolean approved = context.approve("limit", Question.of("Well?")).approved();
    List<Integer> twice =
        context.map("parts", List.of(1, 2, 3), part -> Job.of("part", part), Integer.class);
    context.step("mail", () -> done.incrementAndGet());
    return receipt + " " + said.orElse("nothing") + " " + approved + " " + twice;
  }

  private BiConsumer<JobId, String> answering() {
    return (job, wait) -> {
      switch (wait) {
        case "said" -> holdfast.signal(job, "said", "yes");
        case "limit" ->
            holdfast
                .jobs()
                .decide(job, "limit", new Decision(true, "ada", ""), Role.OPERATOR, Tenant.ANY);
        default -> throw new AssertionError(wait);
      }
    };
  }

  @Test
  void a_worker_dies_before_and_after_each_step_wait_and_start_of_jobs() {
    List<String> moments =
        survives(running(this::everything).counting("mails", done::get).answering(answering()));
    assertThat(moments)
        .containsExactly(
            "before step 'charge' was written",
            "after step 'charge' was written",
            "before the wait 'cool-off' was written",
            "after the wait 'cool-off' was written",
            "before the wait 'said' was written",
            "after the wait 'said' was written",
            "before the wait 'limit' was written",
            "after the wait 'limit' was written",
            "before the jobs of 'parts' were started",
            "after the jobs of 'parts' were started",
            "before the wait 'parts:join' was written",
            "after the wait 'parts:join' was written",
            "before step 'mail' was written",
            "after step 'mail' was written",
            "before its attempt was settled",
            "after its attempt was settled");
    // Twice without a crash, and once with each; once more where the step was not written.
    assertThat(done.get()).isEqualTo(moments.size() + 3);
    assertThat(
            holdfast.queries().statistics(Tenant.ANY).byState().keySet().stream()
                .filter(state -> !state.isTerminal())
                .filter(
                    state -> holdfast.queries().statistics(Tenant.ANY).byState().get(state) > 0))
        .isEmpty();
  }

  @Test
  void what_is_done_outside_of_a_step_is_found() {
    assertFound(
        (order, context) -> {
          done.incrementAndGet();
          return context.step("charge", String.class, () -> "receipt");
        },
        "'order' does not survive that its worker dies after step 'charge' was written",
        "'mails': 2 instead of 1, so something outside of a step is done again");
  }

  @Test
  void a_job_that_is_enqueued_outside_of_a_step_is_found() {
    assertFound(
        (order, context) -> {
          holdfast.enqueue(Job.of("part", 1));
          context.sleep("nap", Duration.ofHours(1));
          return order;
        },
        "dies before the wait 'nap' was written",
        "jobs of kind 'part': 3 instead of 2");
  }

  @Test
  void a_variable_that_a_step_leaves_for_later_is_found() {
    assertFound(
        (order, context) -> {
          List<String> mine = new ArrayList<>();
          context.step("collect", () -> mine.add(order));
          return context.step("count", Integer.class, mine::size);
        },
        "dies after step 'collect' was written",
        "its result is 0 instead of 1",
        "the result of step 'count' is 0 instead of 1");
  }

  @Test
  void a_step_whose_id_is_another_one_in_each_attempt_is_found() {
    assertFound(
        (order, context) -> {
          context.step("first", () -> {});
          context.step("attempt-" + context.lease().attempt(), () -> {});
          return order;
        },
        "dies before step 'first' was written",
        "the result of step 'attempt-1' is nothing instead of null",
        "the result of step 'attempt-2' is null instead of nothing");
  }

  @Test
  void a_handler_that_fails_when_it_is_called_again_is_found() {
    assertFound(
        (order, context) -> {
          context.step("first", () -> {});
          if (context.lease().attempt() > 1) {
            throw new IllegalStateException("again");
          }
          return order;
        },
        "dies before step 'first' was written",
        "its state is FAILED instead of SUCCEEDED",
        "IllegalStateException: again");
  }

  @Test
  void a_job_that_never_ends_after_a_crash_is_found() {
    assertFound(
        (order, context) -> {
          context.step("first", () -> {});
          if (context.lease().attempt() > 1) {
            context.await("nobody-sends-it", String.class);
          }
          return order;
        },
        "does not end when its worker dies before step 'first' was written",
        "it is WAITING, and waits for 'nobody-sends-it'");
  }

  @Test
  void values_that_differ_in_every_run_are_compared_within_a_run() {
    assertThat(
            survives(
                running(
                    (order, context) -> {
                      String id =
                          context.step("id", String.class, () -> UUID.randomUUID().toString());
                      return context.step("use", String.class, () -> "used " + id);
                    })))
        .hasSize(6);
  }

  @Test
  void a_handler_that_does_something_else_in_every_run_cannot_be_judged() {
    assertFound(
        (order, context) -> {
          context.step("run-" + done.incrementAndGet(), () -> {});
          return order;
        },
        "two runs of 'order' without a crash are not the same");
  }

  @Test
  void a_job_that_fails_must_fail_in_the_same_way() {
    assertThat(
            survives(
                running(
                    (order, context) -> {
                      context.step(
                          "never",
                          String.class,
                          new Budgets(1, Duration.ofMinutes(1), Duration.ofMinutes(1), 0, 0),
                          () -> {
                            throw new IllegalArgumentException("no tea");
                          });
                      return order;
                    })))
        .isNotEmpty();
  }
}
