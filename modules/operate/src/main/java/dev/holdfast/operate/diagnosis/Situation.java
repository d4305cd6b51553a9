package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The facts with what rules derive from them, and the queues that earlier rules have explained. */
final class Situation {
  /** A job that has been due for longer would have been claimed if any worker served its queue. */
  static final Duration CLAIMED_WITHIN = Duration.ofMinutes(1);

  private final Diagnosis.Facts facts;
  private final Map<String, QueueStatus> queues;
  private final Set<String> silentSupervisors;
  private final Set<String> explained = new HashSet<>();

  Situation(Diagnosis.Facts facts) {
    this.facts = facts;
    this.queues =
        facts.queues().stream().collect(Collectors.toMap(QueueStatus::name, queue -> queue));
    this.silentSupervisors = facts.workers().silentSupervisors();
  }

  Diagnosis.Facts facts() {
    return facts;
  }

  WorkerFleet workers() {
    return facts.workers();
  }

  Set<String> silentSupervisors() {
    return silentSupervisors;
  }

  @Nullable QueueStatus queue(String name) {
    return queues.get(name);
  }

  /** A finding says why the jobs of the queue wait. */
  void explain(String queue) {
    explained.add(queue);
  }

  boolean isExplained(String queue) {
    return explained.contains(queue);
  }

  /** Whether jobs of the queue wait for nothing but a worker. */
  boolean hasWaitingJobs(String name, Duration longerThan) {
    QueueStatus queue = queues.get(name);
    if (queue == null || queue.isPaused()) {
      return false;
    }
    Duration oldest = queue.oldest();
    return queue.due() > 0 && oldest != null && oldest.compareTo(longerThan) > 0;
  }

  /** Whether a worker asks for jobs of the queue, at this server or at another one. */
  boolean isAskedFor(String queue) {
    return facts.waitedFor().contains(queue)
        || workers().pollers().stream().anyMatch(poller -> poller.queues().contains(queue));
  }

  /** Whether workers of several supervisors have this name. */
  boolean isNameShared(WorkerHealth row) {
    return workers().processes().stream()
            .filter(other -> other.component().equals(row.component()))
            .count()
        > 1;
  }
}
