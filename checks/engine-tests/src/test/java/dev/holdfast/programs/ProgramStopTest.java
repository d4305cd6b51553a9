package dev.holdfast.programs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How a program is stopped, with all the processes that it has started. */
@OnlyWithAll
class ProgramStopTest extends ProgramFixture {
  private static final Timings BRIEF_GRACE =
      new Timings(
          Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofMillis(700));

  /** For a program that ends on SIGTERM, however busy the machine. */
  private static final Timings LONG_GRACE =
      new Timings(
          Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofSeconds(30));

  private JobId begun(Worker unused) throws Exception {
    JobId id = enqueue(Job.of("program"));
    until(() -> Files.exists(folder.resolve("pids")) && pids().size() == 2);
    return id;
  }

  private List<Long> pids() throws IOException {
    return Files.readString(folder.resolve("pids"), StandardCharsets.UTF_8)
        .lines()
        .map(Long::valueOf)
        .toList();
  }

  private Kind<Json> stubborn(String onTerm) {
    return kind(
        List.of(
            "sh",
            "-c",
            "trap '"
                + onTerm
                + "' TERM; echo $$ >> \"$PIDS\";"
                + " (setsid sh -c 'trap \"\" TERM; echo $$ >> \"$PIDS\"; while :; do sleep 0.1; done' &);"
                + " while :; do sleep 0.1; done"),
        Map.of("PIDS", folder.resolve("pids").toString()));
  }

  private void untilAllAreGone() throws Exception {
    List<Long> pids = pids();
    until(() -> pids.stream().noneMatch(Living::is));
  }

  @Test
  void is_terminated_when_its_job_is_cancelled_and_leaves_no_process() throws Exception {
    JobId id = begun(start(worker().timings(LONG_GRACE).handle(stubborn("exit 0"))));
    holdfast.cancel(id, "enough");
    await(id, JobState.CANCELLED);
    untilAllAreGone();
    until(() -> files(scratchRoot()).isEmpty());
  }

  @Test
  void is_killed_with_its_children_when_it_ignores_the_termination() throws Exception {
    JobId id = begun(start(worker().timings(BRIEF_GRACE).handle(stubborn(""))));
    holdfast.cancel(id, "enough");
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.CANCEL_TIMEOUT);
    untilAllAreGone();
  }

  @Test
  void is_ended_at_shutdown_and_its_job_is_released() throws Exception {
    Worker worker = start(worker().timings(BRIEF_GRACE).handle(stubborn("")));
    JobId id = begun(worker);
    worker.close();
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    assertThat(timeline(id)).endsWith("aborted:shutdown");
    untilAllAreGone();
  }

  @Test
  void is_ended_by_its_timeout() throws Exception {
    start(worker().timings(BRIEF_GRACE).handle(stubborn("")));
    JobId id = enqueue(Job.of("program").maxAttempts(1).timeout(Duration.ofSeconds(1)));
    await(id, JobState.FAILED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.TIMEOUT);
    untilAllAreGone();
  }

  @Test
  void is_killed_at_once_when_the_lease_is_lost() throws Exception {
    Timings patient =
        new Timings(
            Duration.ofMillis(200), Duration.ofSeconds(30), Duration.ZERO, Duration.ofMinutes(5));
    JobId id = begun(start(worker().timings(patient).handle(stubborn(""))));
    db.sql("UPDATE holdfast.job SET attempt = attempt + 1 WHERE id = '" + id + "'");
    untilAllAreGone();
  }
}
