package dev.holdfast.queue.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

public class StepsTest extends QueueFixture {
  public static Report.Entry entry(String type) {
    return new Report.Entry(type, new Json("{\"stepId\": \"embed\"}"));
  }

  private static Report.Step told(
      Lease lease, int index, StepState state, int attempt, String... events) {
    return told(lease, index, state, attempt, null, events);
  }

  private static Report.Step told(
      Lease lease,
      int index,
      StepState state,
      int attempt,
      @Nullable Patch patch,
      String... events) {
    return new Report.Step(
        lease,
        "step-" + index,
        index,
        state,
        attempt,
        false,
        state == StepState.DONE ? new Json("{\"made\": " + index + "}") : null,
        patch,
        null,
        null,
        List.of(events).stream().map(StepsTest::entry).toList());
  }

  private Ack tell(Report report) {
    return queue.report(List.of(report)).getFirst();
  }

  @Test
  void a_step_and_its_events_are_written_together_and_read_in_order() {
    Lease lease = running();
    byte[] bytes = {0, 1, (byte) 0xff, '\n'};
    tell(told(lease, 1, StepState.RUNNING, 1, EventType.STEP_STARTED));
    tell(told(lease, 1, StepState.DONE, 1, Patch.of(bytes), EventType.STEP_FINISHED));
    tell(told(lease, 2, StepState.RUNNING, 1, EventType.STEP_STARTED));
    List<StepStatus> steps = queries.steps(lease.job());
    assertThat(steps).extracting(StepStatus::id).containsExactly("step-1", "step-2");
    assertThat(steps)
        .extracting(StepStatus::state)
        .containsExactly(StepState.DONE, StepState.RUNNING);
    assertThat(steps.getFirst().checkpoint()).isEqualTo(new Json("{\"made\": 1}"));
    assertThat(steps.getFirst().patchBytes()).isEqualTo(4);
    assertThat(steps.getFirst().finishedAt()).isNotNull();
    assertThat(steps.getLast().finishedAt()).isNull();
    assertThat(queries.patch(lease.job(), "step-1").orElseThrow().bytes()).isEqualTo(bytes);
    assertThat(queries.patch(lease.job(), "step-2")).isEmpty();
    assertThat(events(lease.job()))
        .containsExactly(
            EventType.CREATED,
            EventType.PROCESSING,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED);
    assertThat(queries.timeline(lease.job()).stream().map(JobEvent::number).toList())
        .isEqualTo(IntStream.rangeClosed(1, 5).boxed().toList());
  }

  @Test
  void a_repeated_report_is_applied_once() {
    Lease lease = running();
    Report.Step started = told(lease, 1, StepState.RUNNING, 1, EventType.STEP_STARTED);
    Report.Step failed =
        new Report.Step(
            lease,
            "step-1",
            1,
            StepState.FAILED,
            1,
            true,
            null,
            null,
            null,
            null,
            List.of(entry(EventType.STEP_FAILED), entry(EventType.HEAL_TRIGGERED)));
    for (Report.Step step : List.of(started, started, failed, failed)) {
      assertThat(tell(step)).isEqualTo(Ack.ACCEPTED);
    }
    assertThat(queries.steps(lease.job()).getFirst().resets()).isEqualTo(1);
    assertThat(events(lease.job()))
        .endsWith(EventType.STEP_STARTED, EventType.STEP_FAILED, EventType.HEAL_TRIGGERED)
        .hasSize(5);
  }

  @Test
  void the_failure_of_a_step_is_kept_until_it_is_done() {
    Lease lease = running();
    Json why = new Json("{\"stepId\": \"step-1\", \"summary\": \"boom\", \"strategy\": \"fail\"}");
    tell(told(lease, 1, StepState.RUNNING, 1, EventType.STEP_STARTED));
    tell(
        new Report.Step(
            lease,
            "step-1",
            1,
            StepState.FAILED,
            1,
            false,
            null,
            null,
            null,
            null,
            List.of(
                new Report.Entry(EventType.STEP_FAILED, why), entry(EventType.HEAL_TRIGGERED))));
    tell(told(lease, 1, StepState.RUNNING, 2, EventType.STEP_STARTED));
    tell(told(lease, 2, StepState.RUNNING, 1, EventType.STEP_STARTED));
    List<StepStatus> steps = queries.steps(lease.job());
    assertThat(steps.getFirst().failure()).isEqualTo(why);
    assertThat(steps.getLast().failure()).isNull();
    tell(told(lease, 1, StepState.DONE, 2, EventType.STEP_FINISHED));
    assertThat(queries.steps(lease.job()).getFirst().failure()).isNull();
  }

  @Test
  void late_or_unordered_reports_do_not_remove_a_checkpoint() {
    Lease lease = running();
    Report.Step first = told(lease, 1, StepState.RUNNING, 1, EventType.STEP_STARTED);
    Report.Step failed = told(lease, 1, StepState.FAILED, 1, EventType.STEP_FAILED);
    Report.Step second = told(lease, 1, StepState.RUNNING, 2, EventType.STEP_STARTED);
    Report.Step done =
        told(lease, 1, StepState.DONE, 2, Patch.of(new byte[] {1}), EventType.STEP_FINISHED);
    for (Report.Step step : List.of(first, failed, second, done)) {
      tell(step);
    }
    List<StepStatus> before = queries.steps(lease.job());
    assertThat(before.getFirst().isDone()).isTrue();
    for (Report.Step late : List.of(second, failed, first, done)) {
      assertThat(tell(late)).isEqualTo(Ack.ACCEPTED);
      assertThat(queries.steps(lease.job())).isEqualTo(before);
    }
    assertThat(events(lease.job())).endsWith(EventType.STEP_FINISHED).hasSize(6);
  }

  @Test
  void an_attempt_that_lost_its_job_writes_no_checkpoint() {
    Lease lost = running();
    reap(lost);
    Lease now = claimOne();
    assertThat(tell(told(lost, 1, StepState.DONE, 1, EventType.STEP_FINISHED)))
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(queries.steps(now.job())).isEmpty();
    assertThat(events(now.job())).doesNotContain(EventType.STEP_FINISHED);
  }

  @Test
  void a_reset_drops_the_checkpoints_from_its_step_on() {
    Lease lease = running();
    for (int step = 1; step <= 4; step++) {
      tell(told(lease, step, StepState.DONE, 1, Patch.of(new byte[] {1})));
    }
    tell(
        new Report.Step(
            lease, "step-3", 3, StepState.RUNNING, 2, false, null, null, 3, null, List.of()));
    assertThat(queries.steps(lease.job()))
        .extracting(StepStatus::state)
        .containsExactly(StepState.DONE, StepState.DONE, StepState.RUNNING, StepState.FAILED);
    assertThat(queries.patch(lease.job(), "step-4")).isEmpty();
    assertThat(queries.patch(lease.job(), "step-2")).isPresent();
  }

  @Test
  void reaping_a_job_marks_its_running_step_as_interrupted() {
    Lease lease = running();
    tell(told(lease, 1, StepState.DONE, 1));
    tell(told(lease, 2, StepState.RUNNING, 3, EventType.STEP_STARTED));
    reap(lease);
    assertThat(queries.steps(lease.job()))
        .extracting(StepStatus::state)
        .containsExactly(StepState.DONE, StepState.INTERRUPTED);
    JobEvent failed = queries.timeline(lease.job()).getLast();
    assertThat(events(lease.job())).endsWith(EventType.REQUEUED_STALE, EventType.STEP_FAILED);
    assertThat(failed.data().text())
        .contains("\"stepId\": \"step-2\"", "\"attempt\": 3", "transient_runtime");
    assertThat(events(claimOne().job())).endsWith(EventType.STEP_FAILED, EventType.PROCESSING);
  }

  @Test
  void a_job_has_at_most_a_thousand_steps() {
    Lease lease = running();
    db.sql(
        "INSERT INTO holdfast.step (job_id, step_id, step_index, state, attempt, job_attempt, started_at)"
            + " SELECT ?, 'step-' || n, n, 'RUNNING', 1, 1, now() FROM generate_series(1, 1000) n",
        lease.job().value());
    assertThat(tell(told(lease, 1_000, StepState.DONE, 1))).isEqualTo(Ack.ACCEPTED);
    assertRefused(Refusal.BAD_LIMIT, () -> tell(told(lease, 1_001, StepState.RUNNING, 1)));
  }

  // ---- short steps

  private static Report.Step brief(Lease lease, int index) {
    return brief(lease, index, 1);
  }

  private static Report.Step brief(Lease lease, int index, int attempt) {
    return Report.Step.done(
        lease,
        "step-" + index,
        index,
        attempt,
        new Json("{\"made\": " + index + "}"),
        Duration.ofMillis(250));
  }

  private long storedEvents(Lease lease) {
    return db.count("SELECT count(*) FROM holdfast.event WHERE job_id = ?", lease.job().value());
  }

  @Test
  void a_step_that_is_reported_once_is_one_row_and_the_timeline_has_its_start_and_its_end() {
    Lease lease = running();
    assertThat(tell(brief(lease, 1))).isEqualTo(Ack.ACCEPTED);
    assertThat(tell(brief(lease, 2))).isEqualTo(Ack.ACCEPTED);
    assertThat(storedEvents(lease)).isZero();
    List<JobEvent> timeline = queries.timeline(lease.job());
    assertThat(timeline)
        .extracting(JobEvent::type)
        .containsExactly(
            EventType.CREATED,
            EventType.PROCESSING,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED);
    assertThat(timeline).extracting(JobEvent::number).containsExactly(1, 2, 3, 4, 5, 6);
    JobEvent started = timeline.get(4);
    JobEvent finished = timeline.get(5);
    assertThat(started.data())
        .isEqualTo(new Json("{\"stepId\": \"step-2\", \"attempt\": 1, \"stepIndex\": 2}"));
    assertThat(finished.data().text())
        .contains(
            "\"stepId\": \"step-2\"", "\"attempt\": 1", "\"stepIndex\": 2", "\"seconds\": 0.250")
        .contains("\"startedAt\": \"" + started.at());
    assertThat(Duration.between(started.at(), finished.at()))
        .isBetween(Duration.ofMillis(249), Duration.ofMillis(251));
    StepStatus step = queries.steps(lease.job()).getLast();
    assertThat(step.isDone()).isTrue();
    assertThat(step.attempt()).isEqualTo(1);
    assertThat(step.checkpoint()).isEqualTo(new Json("{\"made\": 2}"));
    assertThat(step.startedAt()).isEqualTo(started.at());
    assertThat(step.finishedAt()).isEqualTo(finished.at());
  }

  @Test
  void a_short_report_that_is_repeated_changes_nothing() {
    Lease lease = running();
    tell(brief(lease, 1));
    List<JobEvent> before = queries.timeline(lease.job());
    for (int i = 0; i < 2; i++) {
      assertThat(tell(brief(lease, 1))).isEqualTo(Ack.ACCEPTED);
      assertThat(queries.timeline(lease.job())).isEqualTo(before);
    }
    assertThat(tell(told(lease, 1, StepState.RUNNING, 1, EventType.STEP_STARTED)))
        .isEqualTo(Ack.ACCEPTED);
    assertThat(queries.timeline(lease.job())).isEqualTo(before);
    assertThat(queries.steps(lease.job()).getFirst().isDone()).isTrue();
  }

  @Test
  void a_short_step_that_runs_again_keeps_its_events() {
    Lease lease = running();
    tell(brief(lease, 1));
    tell(brief(lease, 2));
    List<JobEvent> before = queries.timeline(lease.job());
    tell(told(lease, 2, StepState.RUNNING, 2, EventType.STEP_STARTED));
    assertThat(queries.timeline(lease.job()))
        .startsWith(before.toArray(JobEvent[]::new))
        .hasSize(7);
    assertThat(queries.steps(lease.job()).getLast().state()).isEqualTo(StepState.RUNNING);
    tell(brief(lease, 2, 3));
    assertThat(events(lease.job())).endsWith(EventType.STEP_STARTED, EventType.STEP_FINISHED);
    assertThat(queries.timeline(lease.job()).stream().map(JobEvent::number).toList())
        .isEqualTo(IntStream.rangeClosed(1, 9).boxed().toList());
  }

  @Test
  void a_reset_keeps_the_events_of_the_short_steps_it_drops() {
    Lease lease = running();
    for (int step = 1; step <= 3; step++) {
      tell(brief(lease, step));
    }
    List<JobEvent> before = queries.timeline(lease.job());
    tell(
        new Report.Step(
            lease, "step-2", 2, StepState.RUNNING, 2, false, null, null, 2, null, List.of()));
    assertThat(queries.timeline(lease.job())).isEqualTo(before);
    assertThat(queries.steps(lease.job()))
        .extracting(StepStatus::state)
        .containsExactly(StepState.DONE, StepState.RUNNING, StepState.FAILED);
  }

  @Test
  void steps_of_many_jobs_are_written_together_and_each_report_has_its_answer() {
    Lease one = running();
    Lease two = running();
    Lease lost = running();
    reap(lost);
    Report.Progress half = new Report.Progress(one, 50, null);
    List<Ack> acks =
        queue.report(
            List.of(
                brief(one, 1),
                brief(lost, 1),
                half,
                told(two, 1, StepState.RUNNING, 1, EventType.STEP_STARTED),
                brief(one, 2),
                told(two, 1, StepState.DONE, 1, EventType.STEP_FINISHED)));
    assertThat(acks)
        .containsExactly(
            Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED, Ack.ACCEPTED, Ack.ACCEPTED, Ack.ACCEPTED);
    assertThat(events(one.job()))
        .as("in the order in which they were told")
        .endsWith(
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.PROGRESS,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED);
    assertThat(events(two.job())).endsWith(EventType.STEP_STARTED, EventType.STEP_FINISHED);
    assertThat(queries.steps(lost.job())).isEmpty();
  }

  @Test
  void an_attempt_that_lost_its_job_writes_no_short_step() {
    Lease lost = running();
    reap(lost);
    Lease now = claimOne();
    assertThat(tell(brief(lost, 1))).isEqualTo(Ack.LEASE_LOST);
    assertThat(queries.steps(now.job())).isEmpty();
  }

  @Test
  void a_job_has_at_most_a_thousand_short_steps() {
    Lease lease = running();
    for (int step = 1; step <= 1_000; step++) {
      assertThat(tell(brief(lease, step))).isEqualTo(Ack.ACCEPTED);
    }
    assertRefused(Refusal.BAD_LIMIT, () -> tell(brief(lease, 1_001)));
    assertRefused(
        Refusal.BAD_LIMIT,
        () ->
            tell(
                Report.Step.done(
                    lease, "another", 1_000, 1, new Json("null"), Duration.ofMillis(1))));
    assertThat(queries.steps(lease.job())).hasSize(1_000);
  }

  private void reap(Lease lease) {
    expire(lease);
    assertThat(maintenance.reap(Duration.ZERO).requeued()).containsExactly(lease.job());
  }
}
