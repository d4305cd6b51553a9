package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithRelease;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Durable
@ExtendWith(WorldExtension.class)
@OnlyWithRelease
class ConcurrentWorkersTest {
  private static final int JOBS = Extent.of(2_000, 20_000);
  private static final int BATCH = 1_000;

  static IntStream crowds() {
    return Extent.isRelease() ? IntStream.of(2, 8) : IntStream.of(3);
  }

  @ParameterizedTest
  @MethodSource("crowds")
  void every_job_runs_exactly_once_with_any_number_of_workers(int workers, World world) {
    world
        .worker()
        .env("HEARTBEAT_INTERVAL_SEC", "10")
        .env("LEASE_TIMEOUT_SEC", "60")
        .modestly()
        .start(workers);
    for (int from = 0; from < JOBS; from += BATCH) {
      world.holdfast().enqueue(batch());
    }
    world.awaitAll(JOBS);

    assertThat(world.count("SELECT count(*) FROM ran")).isEqualTo(JOBS);
    assertThat(world.count("SELECT count(DISTINCT job) FROM ran")).isEqualTo(JOBS);
    assertThat(world.count("SELECT count(*) FROM holdfast.job WHERE attempt = 1")).isEqualTo(JOBS);
    assertThat(world.count("SELECT count(DISTINCT worker_id) FROM holdfast.job"))
        .describedAs("workers that had a share")
        .isEqualTo(workers);
    System.out.printf(
        "%d workers: %d jobs a second%n",
        workers,
        world.count(
            "SELECT count(*) / extract(epoch FROM max(finished_at) - min(created_at))"
                + " FROM holdfast.job"));
  }

  private static List<Job> batch() {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      jobs.add(Job.of("work", new ScenarioKinds.Work(0)));
    }
    return jobs;
  }
}
