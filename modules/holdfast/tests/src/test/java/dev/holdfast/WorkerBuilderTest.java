package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.Worker;
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
