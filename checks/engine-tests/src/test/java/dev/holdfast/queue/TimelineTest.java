package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimelineTest extends QueueFixture {
  private static Report event(Lease lease, String type) {
    return new Report.Event(lease, type, Json.EMPTY);
  }

  private static Report progress(Lease lease, int percent) {
    return new Report.Progress(lease, percent, percent + " of 100");
  }

  @AfterEach
  void every_timeline_is_numbered_without_gaps_and_in_order_of_time() {
    for (JobStatus job : queries.list(JobFilter.ALL.limit(1_000))) {
      List<JobEvent> timeline = queries.timeline(job.id());
      assertThat(timeline)
          .extracting(JobEvent::number)
          .containsExactlyElementsOf(IntStream.rangeClosed(1, timeline.size()).boxed().toList());
      assertThat(timeline).extracting(JobEvent::at).isSorted();
      assertThat(timeline).extracting(JobEvent::attempt).isSorted();
    }
  }

  @Test
  void a_successful_job_has_all_its_events_in_order() {
    Lease lease = running();
    queue.report(List.of(event(lease, EventType.SOURCE_READY), progress(lease, 10)));
    queue.report(List.of(progress(lease, 60)));
    queue.report(List.of(progress(lease, 100), event(lease, EventType.UPLOADED)));
    queue.settle(succeed(lease));
    assertThat(events(lease.job()))
        .containsExactly(
            "created",
            "processing",
            "source:ready",
            "progress",
            "progress",
            "progress",
            "uploaded",
            "done");
    assertThat(queries.timeline(lease.job()))
        .extracting(JobEvent::attempt)
        .containsExactly(0, 1, 1, 1, 1, 1, 1, 1);
    assertThat(queries.timeline(lease.job()).get(1).data().text()).contains(WORKER);
    assertThat(queries.timeline(lease.job()).get(3).data())
        .isEqualTo(new Json("{\"message\": \"10 of 100\", \"percent\": 10}"));
  }

  @Test
  void a_job_that_only_succeeds_writes_no_row_but_its_own() {
    queue.settle(succeed(running()));
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.attempt")).isZero();
  }

  @Test
  void the_timeline_shows_creation_claim_and_success() {
    JobId job = add(job());
    assertThat(events(job)).containsExactly("created");
    Lease lease = claimOne();
    assertThat(events(job)).containsExactly("created", "processing");
    queue.settle(succeed(lease));
    assertThat(events(job)).containsExactly("created", "processing", "done");
  }

  @Test
  void every_way_an_attempt_can_end_has_an_event() {
    JobId job = add(job().maxAttempts(2));
    queue.settle(new Settlement.Snooze(claimOne(), Duration.ZERO));
    queue.settle(new Settlement.Release(claimOne(), false));
    queue.settle(new Settlement.Release(claimOne(), true));
    Lease crashed = claimOne();
    queue.report(List.of(progress(crashed, 5)));
    expire(crashed);
    maintenance.reap(Duration.ZERO);
    queue.settle(fail(claimOne(), FLAKY));
    queue.settle(fail(claimOne(), FLAKY));
    queue.retry(List.of(job), Tenant.ANY);
    Lease cancelled = claimOne();
    queue.cancel(List.of(job), false, "enough", Tenant.ANY);
    queue.settle(new Settlement.Cancel(cancelled, null));
    queue.retry(List.of(job), Tenant.ANY);
    queue.settle(succeed(claimOne()));

    assertThat(events(job))
        .containsExactly(
            "created",
            "processing",
            "snoozed",
            "processing",
            "released",
            "processing",
            "aborted:shutdown",
            "processing",
            "progress",
            "requeued:stale",
            "processing",
            "retry:scheduled",
            "processing",
            "failed",
            "retried",
            "processing",
            "cancel:requested",
            "cancelled",
            "retried",
            "processing",
            "done");
    assertThat(queries.attempts(job))
        .extracting(Attempt::outcome)
        .containsExactly(
            AttemptOutcome.SNOOZED,
            AttemptOutcome.RELEASED,
            AttemptOutcome.RELEASED,
            AttemptOutcome.CRASHED,
            AttemptOutcome.FAILED,
            AttemptOutcome.FAILED,
            AttemptOutcome.CANCELLED,
            AttemptOutcome.SUCCEEDED);
    assertThat(queries.attempts(job))
        .extracting(Attempt::number)
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
  }

  @Test
  void a_running_attempt_has_no_end() {
    Lease lease = running();
    Attempt running = queries.attempts(lease.job()).getFirst();
    assertThat(running.outcome()).isEqualTo(AttemptOutcome.RUNNING);
    assertThat(running.worker()).isEqualTo(WORKER);
    assertThat(running.endedAt()).isNull();
    assertThat(running.failure()).isNull();
    queue.settle(succeed(lease));
    assertThat(queries.attempts(lease.job()).getFirst().endedAt())
        .isEqualTo(status(lease.job()).finishedAt());
  }

  @Test
  void the_latest_progress_can_be_read_from_the_job() {
    Lease lease = running();
    assertThat(status(lease.job()).progress()).isNull();
    queue.report(
        List.of(
            progress(lease, 20),
            progress(lease, 40),
            event(lease, "note"),
            new Report.Progress(lease, 30, null)));
    assertThat(status(lease.job()).progress()).isEqualTo(30);
    assertThat(status(lease.job()).progressMessage()).isNull();
    queue.report(List.of(progress(lease, 50)));
    queue.report(List.of(event(lease, "note")));
    assertThat(status(lease.job()).progress()).isEqualTo(50);
    assertThat(status(lease.job()).progressMessage()).isEqualTo("50 of 100");
    queue.settle(new Settlement.Release(lease, false));
    claimOne();
    assertThat(status(lease.job()).progress()).as("a new attempt has no progress").isNull();
  }

  @Test
  void one_batch_reports_for_many_jobs_and_returns_one_result_each() {
    Lease one = running();
    Lease two = running();
    Lease lost = new Lease(one.job(), 7);
    assertThat(
            queue.report(
                List.of(event(two, "a"), event(lost, "never"), event(one, "a"), event(two, "b"))))
        .containsExactly(Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED, Ack.ACCEPTED);
    assertThat(events(one.job())).containsExactly("created", "processing", "a");
    assertThat(events(two.job())).containsExactly("created", "processing", "a", "b");
  }

  @Test
  void concurrent_event_reports_leave_no_gaps() {
    Lease lease = running();
    Lease other = running();
    Parallel.run(
        8,
        i ->
            () -> {
              for (int n = 0; n < 25; n++) {
                List<Report> reports = new ArrayList<>();
                reports.add(event(i % 2 == 0 ? lease : other, "r" + i + "-" + n));
                reports.add(event(i % 2 == 0 ? other : lease, "r" + i + "-" + n));
                assertThat(queue.report(reports)).containsOnly(Ack.ACCEPTED);
              }
              return true;
            });
    assertThat(events(lease.job())).hasSize(2 + 8 * 25).doesNotHaveDuplicates();
    assertThat(events(other.job())).hasSize(2 + 8 * 25).doesNotHaveDuplicates();
    assertThat(events(lease.job()).stream().filter(type -> type.startsWith("r3-")))
        .isEqualTo(IntStream.range(0, 25).mapToObj(n -> "r3-" + n).toList());
  }

  @Test
  void concurrent_reports_settles_and_cancels_make_one_timeline() {
    for (int round = 0; round < 20; round++) {
      Lease lease = running();
      Parallel.run(
          4,
          i ->
              () ->
                  switch (i) {
                    case 0 -> queue.report(List.of(event(lease, "a"), event(lease, "b")));
                    case 1 -> queue.report(List.of(progress(lease, 50)));
                    case 2 -> queue.cancel(List.of(lease.job()), false, "x", Tenant.ANY);
                    default -> queue.settle(fail(lease, FLAKY));
                  });
    }
  }

  @Test
  void event_data_that_is_not_json_is_refused_and_nothing_is_written() {
    Lease lease = running();
    String before = row(lease.job());
    assertRefused(
        Refusal.EVENT_NOT_JSON,
        () ->
            queue.report(
                List.of(event(lease, "fine"), new Report.Event(lease, "note", new Json("{oops")))));
    assertRefused(
        Refusal.EVENT_NOT_JSON,
        () -> queue.report(List.of(new Report.Event(lease, "note", new Json("\"\\u0000\"")))));
    assertThat(row(lease.job())).isEqualTo(before);
  }

  @Test
  void the_data_of_an_event_is_stored() {
    Lease lease = running();
    Json data = new Json("{\"path\": \"results/a \\\"b\\\".csv\", \"rows\": [1, null, \"ü😀\"]}");
    queue.report(List.of(new Report.Event(lease, "exported", data)));
    assertThat(queries.timeline(lease.job()).getLast().data()).isEqualTo(data);
  }
}
