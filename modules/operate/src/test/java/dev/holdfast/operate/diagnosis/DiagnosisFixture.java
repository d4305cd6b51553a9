package dev.holdfast.operate.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.SupervisorHealth;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The state that {@link Diagnosis} checks, built up by a test. */
abstract class DiagnosisFixture {
  static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  static final String TAG = "worker:tag:0";
  static final Warnings NONE = new Warnings(0, 0, 0, 0, List.of(), List.of());
  final List<WorkerHealth> processes = new ArrayList<>();
  final List<SupervisorHealth> supervisors = new ArrayList<>(List.of(supervisor(0)));
  final List<Holder> holders = new ArrayList<>();
  final List<Poller> pollers = new ArrayList<>();
  final List<QueueStatus> queues = new ArrayList<>();
  final List<ScheduleStatus> schedules = new ArrayList<>();
  Warnings warnings = NONE;
  Notice.Trouble notices = Notice.Trouble.NONE;
  Set<String> waitedFor = Set.of();
  @Nullable Instant workersPausedAt;

  /** A finding with its words. */
  record Found(Finding finding, ProblemText text) {
    String code() {
      return finding.code();
    }

    String gist() {
      return text.gist();
    }

    String message() {
      return text.message();
    }

    String cliHint() {
      return text.cliHint();
    }

    String httpHint() {
      return text.httpHint();
    }
  }

  List<Found> found() {
    return findings().stream().map(each -> new Found(each, ProblemText.of(each))).toList();
  }

  List<Finding> findings() {
    return Diagnosis.of(
        new Diagnosis.Facts(
            queues.stream().map(this::withPause).toList(),
            new WorkerFleet(processes, supervisors, holders, pollers, NOW),
            warnings,
            schedules,
            notices,
            waitedFor));
  }

  void assertFound(String... codes) {
    assertThat(found()).extracting(Found::code).containsExactly(codes);
  }

  static SupervisorHealth supervisor(long silent) {
    return new SupervisorHealth(
        "here", "host", NOW.minusSeconds(silent), Duration.ofSeconds(silent));
  }

  /** A worker process, healthy for an hour, unless it is changed. */
  static final class Row {
    String supervisor = "here";
    String component = TAG;
    HealthStatus status = HealthStatus.HEALTHY;
    @Nullable Long pid = 77L;
    long age = 3_600;
    long silent = 1;
    @Nullable JobId job;
    boolean paused;
    int restarts;
    boolean ordered;
    @Nullable Instant next;
    @Nullable Integer exit;
    @Nullable String reason;

    Row is(HealthStatus value) {
      status = value;
      if (!value.isAlive()) {
        pid = null;
      }
      return this;
    }

    WorkerHealth row() {
      return new WorkerHealth(
          supervisor,
          component,
          1,
          status,
          pid,
          pid == null ? null : NOW.minusSeconds(age),
          NOW.minusSeconds(silent),
          Duration.ofSeconds(silent),
          status == HealthStatus.STARTING ? null : WorkerHealth.TIMEOUT,
          job,
          paused,
          restarts,
          restarts,
          restarts == 0 ? null : NOW.minusSeconds(ordered ? age : silent),
          next,
          exit,
          reason,
          new Json("{}"),
          NOW.minusSeconds(age));
    }
  }

  Row add(UnaryOperator<Row> change) {
    Row row = change.apply(new Row());
    processes.add(row.row());
    return row;
  }

  static QueueStatus queue(long due, long running, long oldest) {
    Duration waits = due == 0 ? null : Duration.ofSeconds(oldest);
    return new QueueStatus(
        "tag", due, 0, 0, 0, running, null, null, null, null, waits, waits, null);
  }

  private QueueStatus withPause(QueueStatus queue) {
    return new QueueStatus(
        queue.name(),
        queue.due(),
        queue.delayed(),
        queue.retrying(),
        queue.waiting(),
        queue.running(),
        queue.maxRunning(),
        queue.rateLimit(),
        queue.pausedAt(),
        workersPausedAt,
        queue.oldest(),
        queue.oldestFree(),
        queue.push());
  }
}
