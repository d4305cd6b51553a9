package dev.holdfast.chaos.load;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What clients were told: which jobs they were promised, and what came of their cancels. */
public final class Ledger {
  private final Map<JobId, String> acknowledged = new HashMap<>();
  private final Set<JobId> unanswered = new HashSet<>();
  private final Set<JobId> duplicates = new HashSet<>();
  private final List<Cancellation> cancels = new ArrayList<>();

  public synchronized void acknowledged(Job job) {
    acknowledged.put(job.id(), job.kind());
  }

  /** May be there or not. */
  synchronized void unanswered(Job job) {
    unanswered.add(job.id());
  }

  public synchronized Set<JobId> unanswered() {
    return Set.copyOf(unanswered);
  }

  /** Told to be there already under its unique key. */
  synchronized void duplicate(Job job) {
    duplicates.add(job.id());
  }

  public synchronized void cancelled(Cancellation answer) {
    cancels.add(answer);
  }

  public synchronized Set<JobId> acknowledged() {
    return Set.copyOf(acknowledged.keySet());
  }

  public synchronized Set<JobId> duplicates() {
    return Set.copyOf(duplicates);
  }

  public synchronized List<Cancellation> cancels() {
    return List.copyOf(cancels);
  }

  public synchronized int size() {
    return acknowledged.size();
  }
}
