package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What the model knows, for rules to compare with; times in nanoseconds. */
public final class ModelView {
  private static final Set<String> WAITING_KINDS =
      Set.of("sleep", "signal", "parent", "ask", "first", "loop");

  private final ModelQueue queue;
  private final Map<Lease, Long> lostAt = new HashMap<>();

  public ModelView(ModelQueue queue) {
    this.queue = queue;
  }

  /**
   * A lease.
   *
   * @param isOutOfTime a cancel, a timeout or a deadline ends it, not its age
   */
  public record Held(int attempt, String worker, long extendedAt, boolean isOutOfTime) {}

  public Map<JobId, Held> held() {
    Map<JobId, Held> held = new LinkedHashMap<>();
    for (ModelJob job : queue.jobs()) {
      if (job.state == JobState.RUNNING && job.heartbeatAt != null) {
        held.put(
            job.id,
            new Held(
                job.attempt,
                job.workerName(),
                job.heartbeatAt * 1_000,
                job.cancelRequestedAt != null || job.timeout != null || job.deadline != null));
      }
    }
    return held;
  }

  /** When it was first seen that this lease is lost; null while it is held. */
  public @Nullable Long lostAt(Lease lease) {
    return queue.heldBy(lease) != null
        ? null
        : lostAt.computeIfAbsent(lease, lost -> queue.now() * 1_000);
  }

  public @Nullable Long cancelRequestedAt(Lease lease) {
    ModelJob job = queue.heldBy(lease);
    return job == null || job.cancelRequestedAt == null ? null : job.cancelRequestedAt * 1_000;
  }

  public @Nullable Integer progress(Lease lease) {
    ModelJob job = queue.find(lease.job());
    return job == null ? null : job.progress;
  }

  /** The attempt whose artifact of this name was accepted last; 0 for none. */
  public int publishedBy(JobId id, String name) {
    ModelJob job = queue.find(id);
    String accepted = job == null ? null : job.artifacts.get(name);
    return accepted == null ? 0 : Integer.parseInt(accepted.split(" ", -1)[0]);
  }

  public int startedBy(JobId parent) {
    return (int) queue.jobs().stream().filter(job -> parent.equals(job.parent)).count();
  }

  /** Any job that it has started, that was not retried by an operator, and has not ended. */
  public @Nullable String unfinishedOf(JobId parent) {
    return queue.jobs().stream()
        .filter(job -> parent.equals(job.parent))
        .filter(job -> !job.state.isTerminal() && !job.events.contains("retried"))
        .map(ModelRow::of)
        .findFirst()
        .orElse(null);
  }

  /** Any job that was started with this one and has ended before it, if nobody has retried any. */
  public @Nullable String endedBefore(JobId parent, JobId first) {
    List<ModelJob> children =
        queue.jobs().stream().filter(job -> parent.equals(job.parent)).toList();
    ModelJob found = queue.find(first);
    Long end = found == null ? null : found.finishedAt;
    if (end == null || children.stream().anyMatch(job -> job.events.contains("retried"))) {
      return null;
    }
    return children.stream()
        .filter(job -> job.finishedAt != null && job.finishedAt < end)
        .map(ModelRow::of)
        .findFirst()
        .orElse(null);
  }

  /** How many jobs that it has started have not ended. */
  public long openOf(JobId parent) {
    return queue.jobs().stream()
        .filter(job -> parent.equals(job.parent) && !job.state.isTerminal())
        .count();
  }

  /** Since when a job has waited for what its handler asked for; null if it does not. */
  public @Nullable Long waitsSince(JobId id) {
    ModelJob job = queue.find(id);
    return job == null || job.wait == null ? null : job.wait.since() * 1_000;
  }

  /** Jobs that have done nothing but wait, and have used up some of their budget for failures. */
  public List<String> chargedForWaits() {
    return rows(
        job ->
            job.failures > 0
                && WAITING_KINDS.contains(job.job.kind())
                && job.attempts.values().stream()
                    .noneMatch(ended -> ended.outcome().equals("FAILED")));
  }

  public List<String> unfinished() {
    return rows(job -> !job.state.isTerminal());
  }

  /** Jobs whose end nobody brought about. */
  public List<String> wrongEnds(Map<Lease, String> results) {
    return rows(
        job ->
            switch (job.state) {
              case SUCCEEDED ->
                  !results.containsKey(job.lease())
                      && job.artifacts.isEmpty()
                      && queue.find(JobId.ofSuccessor(job.id)) == null;
              case CANCELLED -> job.cancelRequestedAt == null && job.job.dependsOn().isEmpty();
              case FAILED -> job.failureCode == null;
              case WAITING, PENDING, RUNNING, RETRYING -> false;
            });
  }

  private List<String> rows(Predicate<ModelJob> which) {
    List<String> rows = new ArrayList<>();
    queue.jobs().stream().filter(which).map(ModelRow::of).forEach(rows::add);
    return rows;
  }

  /** Any job that is in one of these states; null when there is none. */
  public @Nullable JobId any(Random random, JobState... states) {
    List<JobId> found =
        queue.jobs().stream()
            .filter(job -> List.of(states).contains(job.state))
            .map(job -> job.id)
            .toList();
    return found.isEmpty() ? null : found.get(random.nextInt(found.size()));
  }

  public boolean isQuiet() {
    return queue.isQuiet();
  }
}
