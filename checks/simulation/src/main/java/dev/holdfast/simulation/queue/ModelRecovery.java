package dev.holdfast.simulation.queue;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What the sweep does: lost leases, attempts and jobs out of time. */
final class ModelRecovery {
  private static final Comparator<ModelJob> ORDER =
      Comparator.comparing((ModelJob job) -> job.queue).thenComparingLong(job -> job.startedAt);

  private final ModelQueue queue;
  private long serverStartedAt;

  ModelRecovery(ModelQueue queue) {
    this.queue = queue;
  }

  /** The database was restarted just now. */
  Verb.Done serverStarted() {
    serverStartedAt = queue.now();
    return Verb.Done.DONE;
  }

  /** Reaps nothing. */
  Verb.Done promote() {
    queue.promote(null);
    queue.waits().wakeDue(null);
    queue.unblock(null);
    queue.waits().wakeParents(null);
    return Verb.Done.DONE;
  }

  /** How many jobs were recovered, by reason. */
  Map<String, Integer> reapAndExpire(Duration reapGrace) {
    Map<String, Integer> recovered = new HashMap<>();
    while (true) {
      List<ModelJob> lost = reap(reapGrace);
      long requeued = lost.stream().filter(job -> job.state == JobState.PENDING).count();
      int late = expire();
      recovered.merge("stale", (int) requeued, Integer::sum);
      recovered.merge("ended", lost.size() - (int) requeued, Integer::sum);
      recovered.merge("timeout", late, Integer::sum);
      if (lost.size() + late == 0) {
        return recovered;
      }
    }
  }

  private List<ModelJob> reap(Duration grace) {
    long now = queue.now();
    return takeBack(
        job -> {
          long lease = expiry(job) - (job.heartbeatAt == null ? 0 : job.heartbeatAt);
          long ends = Math.max(expiry(job), serverStartedAt + lease) + ModelJob.micros(grace);
          return ends < now;
        },
        false);
  }

  private static long expiry(ModelJob job) {
    return job.leaseExpiresAt == null ? Long.MAX_VALUE / 4 : job.leaseExpiresAt;
  }

  /** The jobs of a process that is known to be dead. */
  int recover(String prefix) {
    return takeBack(job -> job.workerName().startsWith(prefix), true).size();
  }

  private List<ModelJob> takeBack(Predicate<ModelJob> which, boolean known) {
    List<ModelJob> lost =
        queue.jobs().stream()
            .filter(job -> job.state == JobState.RUNNING && which.test(job))
            .sorted(ORDER)
            .toList();
    Map<ModelJob, Boolean> company = new HashMap<>();
    lost.forEach(job -> company.put(job, hadCompany(job, known)));
    long now = queue.now();
    for (ModelJob job : lost) {
      boolean spent = job.crashes + 1 > job.job.maxCrashes();
      boolean alone = !Boolean.TRUE.equals(company.get(job));
      JobState next =
          job.cancelRequestedAt != null
              ? JobState.CANCELLED
              : spent && (job.job.maxCrashes() == 0 || alone) ? JobState.FAILED : JobState.PENDING;
      String code = known ? "WORKER_CRASHED" : "HEARTBEAT_TIMEOUT";
      job.failureCode = job.cancelRequestedAt == null && spent && alone ? Failure.TOXIC_JOB : code;
      job.crashes++;
      Failure failure =
          Failure.of(FailureCategory.INFRASTRUCTURE, code, "worker " + job.workerName());
      job.end(
          next,
          "requeued:stale",
          new ModelJob.Ended("CRASHED", failure, job.workerName(), now),
          now);
      job.isolated |= next == JobState.PENDING && job.crashes >= job.job.maxCrashes();
      queue.changed(job);
      queue.reports().cutOff(job);
    }
    return lost;
  }

  /** Whether another job may have caused the crash: one that ran there at the same time. */
  private boolean hadCompany(ModelJob job, boolean known) {
    if (!known && job.isolated) {
      return false;
    }
    String worker = job.workerName();
    long beside =
        queue.jobs().stream()
            .filter(each -> each.state == JobState.RUNNING && each.workerName().equals(worker))
            .count();
    return beside > 1
        || queue.jobs().stream()
            .filter(other -> other != job)
            .flatMap(other -> other.attempts.values().stream())
            .anyMatch(
                ended ->
                    ended.outcome().equals("CRASHED")
                        && ended.worker().equals(worker)
                        && (known || ended.endedAt() >= job.startedAt));
  }

  private int expire() {
    long now = queue.now();
    int ended = 0;
    for (ModelJob job : new ArrayList<>(queue.jobs())) {
      if (job.state == JobState.RUNNING) {
        Failure late = late(job, now);
        if (late != null) {
          queue.settle().fail(job, late, Duration.ZERO);
          queue.changed(job);
          queue.reports().cutOff(job);
          ended++;
        }
      } else if (!job.state.isTerminal() && job.deadline != null && job.deadline < now) {
        job.state = JobState.FAILED;
        job.failureCode = Failure.DEADLINE_EXCEEDED;
        job.finishedAt = now;
        job.event("failed");
        queue.changed(job);
        ended++;
      }
    }
    return ended;
  }

  private static @Nullable Failure late(ModelJob job, long now) {
    if (job.cancelDeadline != null && job.cancelDeadline < now) {
      return Failure.of(FailureCategory.CANCELLED, Failure.CANCEL_TIMEOUT, "");
    }
    if (job.deadline != null && job.deadline + job.cancelGrace < now) {
      return Failure.of(FailureCategory.TIMEOUT, Failure.DEADLINE_EXCEEDED, "");
    }
    if (job.timeout != null && job.startedAt + job.timeout + job.cancelGrace < now) {
      return Failure.of(FailureCategory.TIMEOUT, Failure.ATTEMPT_TIMEOUT, "");
    }
    return null;
  }
}
