package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.Extent;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManyWorkersTest extends LibraryTest {
  private static final int JOBS = Extent.of(1_500, 5_000);

  @ParameterizedTest(name = "{0} workers")
  @ValueSource(ints = {2, 8})
  void each_job_runs_exactly_once(int count) {
    Holdfast library = closing(Holdfast.on(db.dataSource(db.url(), 30)));
    Map<JobId, AtomicInteger> runs = new ConcurrentHashMap<>();
    library.enqueue(IntStream.range(0, JOBS).mapToObj(i -> Job.of("count")).toList());
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      workers.add(
          start(
              workerOf(library)
                  .component("worker:default:" + i)
                  .handle(
                      "count",
                      Json.class,
                      (payload, context) ->
                          runs.computeIfAbsent(context.id(), id -> new AtomicInteger())
                              .incrementAndGet())));
    }
    until(() -> db.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'") == JOBS);
    assertThat(runs).hasSize(JOBS);
    assertThat(runs.values()).allSatisfy(times -> assertThat(times).hasValue(1));
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE attempt <> 1")).isZero();
    assertThat(db.count("SELECT count(DISTINCT worker_id) FROM holdfast.job")).isEqualTo(count);
    assertThat(
            workers.stream()
                .mapToLong(worker -> worker.metrics().value("worker.run_seconds_count"))
                .sum())
        .isEqualTo(JOBS);
  }
}
