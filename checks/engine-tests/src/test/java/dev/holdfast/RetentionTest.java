package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.source.Metrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OnlyDirect("the server does it where there is one")
class RetentionTest extends LibraryTest {
  private static final Duration WEEK = Duration.ofDays(7);
  private static final JobRetention SUCCEEDED = JobRetention.NONE.keep(JobState.SUCCEEDED, WEEK);

  @TempDir Path folder;
  private final AtomicLong nanos = new AtomicLong();

  private DeleteOldJobs deleting(JobRetention retention) {
    return new DeleteOldJobs(
        holdfast.store().maintenance(),
        retention,
        new FolderStore(folder),
        Duration.ZERO,
        nanos::get);
  }

  /** A job that ended in this state, so many days ago. */
  private JobId ended(JobState state, int days) {
    JobId id = enqueue(Job.of("echo").queue("ended"));
    db.sql(
        "UPDATE holdfast.job SET state = ?, finished_at = now() - ? * interval '1 day'"
            + " WHERE id = ?",
        state.name(),
        days,
        id.value());
    return id;
  }

  private boolean exists(JobId id) {
    return holdfast.find(id).isPresent();
  }

  @Test
  void only_jobs_past_the_age_of_their_state_are_deleted() {
    JobId old = ended(JobState.SUCCEEDED, 8);
    JobId young = ended(JobState.SUCCEEDED, 6);
    JobId failedLongAgo = ended(JobState.FAILED, 90);
    JobId failedLately = ended(JobState.FAILED, 8);
    JobId notNamed = ended(JobState.CANCELLED, 1_000);
    JobId pending = enqueue(Job.of("echo"));
    db.sql("UPDATE holdfast.job SET created_at = now() - interval '1 year'");

    deleting(SUCCEEDED.keep(JobState.FAILED, Duration.ofDays(30))).runIfDue();

    assertThat(Stream.of(old, failedLongAgo)).noneMatch(this::exists);
    assertThat(Stream.of(young, failedLately, notNamed, pending)).allMatch(this::exists);
  }

  @Test
  void it_runs_every_ten_minutes() {
    DeleteOldJobs deleting = deleting(SUCCEEDED);
    assertThat(deleting.runIfDue()).isEqualTo(DeleteOldJobs.INTERVAL);
    JobId old = ended(JobState.SUCCEEDED, 8);
    nanos.addAndGet(DeleteOldJobs.INTERVAL.toNanos() - 1);
    assertThat(deleting.runIfDue()).isEqualTo(Duration.ofNanos(1));
    assertThat(exists(old)).isTrue();
    nanos.addAndGet(1);
    deleting.runIfDue();
    assertThat(exists(old)).isFalse();
  }

  @Test
  void a_round_ends_after_a_second_and_the_next_continues() {
    holdfast.enqueue(Stream.generate(() -> Job.of("echo").queue("ended")).limit(1_500).toList());
    db.sql("UPDATE holdfast.job SET state = 'SUCCEEDED', finished_at = now() - interval '1 year'");
    AtomicLong slow = new AtomicLong();
    DeleteOldJobs deleting =
        new DeleteOldJobs(
            holdfast.store().maintenance(),
            SUCCEEDED,
            new FolderStore(folder),
            Duration.ZERO,
            () -> slow.addAndGet(Duration.ofSeconds(1).toNanos()));
    assertThat(deleting.runIfDue()).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(500);
    assertThat(deleting.runIfDue()).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
    assertThat(deleting.runIfDue()).isPositive();
  }

  @Test
  void the_artifacts_of_deleted_jobs_are_deleted_and_others_are_kept() throws IOException {
    JobId old = published();
    JobId young = published();
    db.sql(
        "UPDATE holdfast.job SET finished_at = now() - interval '8 days' WHERE id = ?",
        old.value());
    assertThat(artifacts()).hasSize(2);
    deleting(SUCCEEDED).runIfDue();
    assertThat(exists(old)).isFalse();
    assertThat(artifacts()).singleElement().asString().contains(young.toString());
  }

  private JobId published() {
    JobId id = enqueue(Job.of("publish"));
    worker()
        .artifacts(new FolderStore(folder))
        .scratch(new Scratch(folder.resolve("scratch"), false))
        .handle(
            "publish",
            Json.class,
            (payload, context) -> {
              Path report = Files.writeString(context.scratch().resolve("report"), "done");
              return context.publish("report.txt", report);
            })
        .drain();
    await(id, JobState.SUCCEEDED);
    return id;
  }

  private List<Path> artifacts() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.endsWith("report.txt")).toList();
    }
  }

  @Test
  void a_worker_deletes_old_jobs_if_configured() {
    JobId old = ended(JobState.SUCCEEDED, 8);
    JobId young = ended(JobState.SUCCEEDED, 6);
    holdfast.retention(SUCCEEDED, new FolderStore(folder), Duration.ZERO);
    start(
        holdfast
            .worker(Job.DEFAULT_QUEUE)
            .timings(CALM)
            .handle("echo", Json.class, (payload, context) -> payload));
    until(() -> !exists(old));
    assertThat(exists(young)).isTrue();
  }

  @Test
  void a_worker_deletes_nothing_unless_configured() {
    JobId old = ended(JobState.SUCCEEDED, 10_000);
    JobId waiting = enqueue(Job.of("echo"));
    db.sql(
        "UPDATE holdfast.job SET state = 'RETRYING', run_at = now() - interval '1 hour'"
            + " WHERE id = ?",
        waiting.value());
    start(
        holdfast
            .worker(Job.DEFAULT_QUEUE)
            .timings(CALM)
            .handle("echo", Json.class, (payload, context) -> payload));
    // Its reaper has run.
    await(waiting, JobState.SUCCEEDED);
    assertThat(exists(old)).isTrue();
  }

  @Test
  void upkeep_without_a_worker_deletes_old_jobs_too() {
    JobId old = ended(JobState.FAILED, 31);
    holdfast.retention(
        JobRetention.NONE.keep(JobState.FAILED, Duration.ofDays(30)),
        new FolderStore(folder),
        Duration.ZERO);
    closing(holdfast.upkeep(CALM, new Metrics()));
    until(() -> !exists(old));
  }

  @Test
  void only_terminal_states_and_ages_that_are_not_negative_are_accepted() {
    assertThatThrownBy(() -> JobRetention.NONE.keep(JobState.RUNNING, WEEK))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("RUNNING")
        .hasMessageContaining("SUCCEEDED");
    assertThatThrownBy(() -> JobRetention.NONE.keep(JobState.FAILED, Duration.ofDays(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("FAILED is PT-24H");
  }
}
