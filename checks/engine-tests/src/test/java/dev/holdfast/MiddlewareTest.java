package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Middleware;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What runs around handlers, and what they find on their thread. */
class MiddlewareTest extends LibraryTest {
  private final List<String> heard = new CopyOnWriteArrayList<>();

  private Middleware naming(String name) {
    return (context, next) -> {
      heard.add(name + " before " + context.job().kind());
      try {
        return next.run();
      } finally {
        heard.add(name + " after");
      }
    };
  }

  @Test
  void the_first_middleware_is_the_outermost() {
    JobId id = holdfast.enqueue(Job.of("work")).id();

    worker()
        .around(naming("outer"))
        .handle("work", Json.class, (payload, context) -> heard.add("handler"))
        .around(naming("inner"))
        .drain();

    assertThat(heard)
        .containsExactly(
            "outer before work", "inner before work", "handler", "inner after", "outer after");
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_middleware_may_return_instead_of_the_handler_or_fail_the_attempt() {
    JobId answered = holdfast.enqueue(Job.of("answered")).id();
    JobId refused = holdfast.enqueue(Job.of("refused").maxAttempts(1)).id();

    worker()
        .around(
            (context, next) -> {
              if (context.job().kind().equals("refused")) {
                throw new IllegalStateException("not today");
              }
              return Map.of("by", "middleware");
            })
        .handle("answered", Json.class, (payload, context) -> heard.add("handler"))
        .handle("refused", Json.class, (payload, context) -> heard.add("handler"))
        .drain();

    assertThat(heard).isEmpty();
    assertThat(String.valueOf(holdfast.find(answered).orElseThrow().result()))
        .isEqualTo("{\"by\": \"middleware\"}");
    assertThat(job(refused).state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void log_lines_of_a_handler_and_of_its_steps_name_the_attempt() {
    List<Map<String, String>> contexts = new CopyOnWriteArrayList<>();
    JobId id = holdfast.enqueue(Job.of("work")).id();

    worker()
        .handle(
            "work",
            Json.class,
            (payload, context) -> {
              contexts.add(MDC.getCopyOfContextMap());
              MDC.put("own", "value");
              context.step("part", () -> contexts.add(MDC.getCopyOfContextMap()));
              return null;
            })
        .drain();

    Map<String, String> named =
        Map.of("holdfast.job", id.toString(), "holdfast.attempt", "1", "holdfast.kind", "work");
    assertThat(contexts).hasSize(2).first().isEqualTo(named);
    assertThat(contexts.getLast()).containsAllEntriesOf(named).containsEntry("own", "value");
  }

  @Test
  void the_next_job_on_a_thread_has_no_log_context_of_the_previous_one() {
    holdfast.enqueue(List.of(Job.of("work"), Job.of("work")));
    List<String> left = new CopyOnWriteArrayList<>();

    worker()
        .concurrency(1)
        .handle(
            "work",
            Json.class,
            (payload, context) -> {
              left.add(String.valueOf(MDC.get("own")));
              MDC.put("own", "value");
              return null;
            })
        .drain();

    assertThat(left).containsExactly("null", "null");
  }

  @SuppressWarnings("unused") // Only its type is looked at.
  private static void takes(List<Integer> numbers) {}

  @Test
  void a_payload_type_may_be_known_only_at_run_time() throws Exception {
    Type type =
        MiddlewareTest.class.getDeclaredMethod("takes", List.class).getGenericParameterTypes()[0];
    JobId id = holdfast.enqueue(Job.of("sum", List.of(1, 2, 3))).id();

    worker().handle(Kind.of("sum", PayloadType.of(type), (payload, context) -> payload)).drain();

    assertThat(String.valueOf(holdfast.find(id).orElseThrow().result())).isEqualTo("[1, 2, 3]");
    assertThat(PayloadType.of(type)).hasToString("java.util.List<java.lang.Integer>");
  }
}
