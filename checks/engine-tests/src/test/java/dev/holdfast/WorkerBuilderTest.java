package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerBuilderTest extends LibraryTest {
  @Test
  void a_kind_has_one_handler() {
    WorkerBuilder builder = worker().handle("k", Json.class, (payload, context) -> 1);
    assertThatThrownBy(() -> builder.handle("k", Json.class, (payload, context) -> 2))
        .hasMessageContaining("kind 'k' has two handlers");
    assertThatThrownBy(() -> builder.handle("no spaces", Json.class, (payload, context) -> 2))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void a_handler_without_a_payload_runs_jobs_whatever_payload_they_have() {
    start(worker().handle("k", context -> context.job().kind()));
    JobId without = enqueue(Job.of("k"));
    JobId with = enqueue(Job.of("k", List.of(1, 2)));
    await(without, JobState.SUCCEEDED);
    await(with, JobState.SUCCEEDED);
    assertThat(holdfast.result(without, String.class)).contains("k");
    assertThat(holdfast.result(with, String.class)).contains("k");
  }

  @Test
  void a_payload_of_type_void_is_refused_with_the_overload_that_has_none() {
    WorkerBuilder builder = worker();
    assertThatThrownBy(() -> builder.handle("k", Void.class, (payload, context) -> 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("handle(\"k\", context -> …)");
    assertThatThrownBy(() -> Kind.of("k", void.class, (payload, context) -> 1))
        .hasMessageContaining("handle(\"k\", context -> …)");
  }

  @Test
  void a_result_is_read_as_a_type_with_parameters() {
    record Receipt(int cents) {}
    start(worker().handle("k", context -> List.of(new Receipt(1), new Receipt(2))));
    JobId id = enqueue(Job.of("k"));
    await(id, JobState.SUCCEEDED);
    assertThat(holdfast.result(id, new PayloadType<List<Receipt>>() {}))
        .contains(List.of(new Receipt(1), new Receipt(2)));
  }

  @Test
  void a_checkpoint_is_read_as_a_type_with_parameters() {
    record Page(String title) {}
    Handler<Json> handler =
        (payload, context) -> {
          PayloadType<List<Page>> type = new PayloadType<>() {};
          List<Page> pages = context.step("fetch", type, () -> List.of(new Page("Holdfast")));
          if (context.lease().attempt() == 1) {
            throw new IllegalStateException("after it");
          }
          return pages.getFirst().title();
        };
    start(worker().handle("k", Json.class, AT_ONCE, handler));
    JobId id = enqueue(Job.of("k"));
    await(id, JobState.SUCCEEDED);
    assertThat(holdfast.result(id, String.class)).contains("Holdfast");
  }

  @Test
  void a_worker_needs_a_queue() {
    WorkerBuilder builder = holdfast.worker();
    assertThatThrownBy(builder::start).isInstanceOf(RefusedException.class);
  }

  @Test
  void every_worker_has_its_own_name_and_metrics() {
    List<Kind<?>> kinds = List.of(Kind.of("k", Json.class, (payload, context) -> null));
    WorkerBuilder builder = worker("mail").component("worker:mail:7").handle(kinds);
    Worker first = start(builder);
    Worker second = start(builder);
    assertThat(first.name()).startsWith("worker:mail:7@").isNotEqualTo(second.name());
    first.close();
    JobId id = enqueue(Job.of("k").queue("mail"));
    assertThat(await(id, JobState.SUCCEEDED).worker()).isEqualTo(second.name());
    until(() -> second.metrics().value("worker.run_seconds_count") == 1);
    assertThat(first.metrics().value("worker.run_seconds_count")).isZero();
  }

  @Test
  void check_throws_on_a_database_without_the_schema() {
    assertThatThrownBy(() -> Holdfast.on(pool(db.empty().url(), 1)).check())
        .isInstanceOf(RuntimeException.class);
    assertThat(holdfast.dataSource()).isSameAs(db.dataSource());
  }
}
