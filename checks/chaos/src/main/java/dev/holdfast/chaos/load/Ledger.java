package dev.holdfast.chaos.load;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.wait.Decision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What clients were told: which jobs they were promised, and what came of their cancels. */
public final class Ledger {
  /** A job that was new under its unique key, and when its client was told so. */
  public record Held(JobId job, Instant told) {}

  private final Map<JobId, String> acknowledged = new HashMap<>();
  private final Set<JobId> unanswered = new HashSet<>();
  private final Map<String, List<Held>> uniqueKeys = new TreeMap<>();
  private final Map<JobId, List<Decision>> decisions = new HashMap<>();
  private final List<Cancellation> cancels = new ArrayList<>();

  public synchronized void acknowledged(Job job) {
    acknowledged.put(job.id(), job.kind());
    Unique unique = job.unique();
    if (unique != null) {
      uniqueKeys
          .computeIfAbsent(unique.key(), key -> new ArrayList<>())
          .add(new Held(job.id(), Instant.now()));
    }
  }

  /** May be there or not. */
  synchronized void unanswered(Job job) {
    unanswered.add(job.id());
  }

  public synchronized Set<JobId> unanswered() {
    return Set.copyOf(unanswered);
  }

  /** Another one was said to be there already under its unique key. */
  synchronized void duplicate(JobId other) {
    acknowledged.put(other, "");
  }

  /** By key, in the order in which the jobs became new. */
  public synchronized Map<String, List<Held>> uniqueKeys() {
    Map<String, List<Held>> copy = new TreeMap<>();
    uniqueKeys.forEach((key, held) -> copy.put(key, List.copyOf(held)));
    return copy;
  }

  public synchronized void cancelled(Cancellation answer) {
    cancels.add(answer);
  }

  /** A decision was accepted. */
  public synchronized void decided(JobId job, Decision decision) {
    decisions.computeIfAbsent(job, key -> new ArrayList<>()).add(decision);
  }

  /** What was accepted, by job. */
  public synchronized Map<JobId, List<Decision>> decisions() {
    Map<JobId, List<Decision>> copy = new HashMap<>();
    decisions.forEach((job, all) -> copy.put(job, List.copyOf(all)));
    return copy;
  }

  public synchronized Set<JobId> acknowledged() {
    return Set.copyOf(acknowledged.keySet());
  }

  public synchronized List<Cancellation> cancels() {
    return List.copyOf(cancels);
  }

  public synchronized int size() {
    return acknowledged.size();
  }
}
