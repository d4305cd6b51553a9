package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.value.Limits;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a job is enqueued with where it does not say so: first by what was declared with its
 * kind in this process, then by the settings for retries.
 */
public final class EnqueueDefaults {
  private final Map<String, JobDefaults> byKind = new ConcurrentHashMap<>();
  private final RetryDefaults retries;

  public EnqueueDefaults(RetryDefaults retries) {
    this.retries = retries;
  }

  /** From now on, and in place of what was declared for the kind before. */
  public void declare(String kind, JobDefaults defaults) {
    byKind.put(Limits.kind(kind), defaults);
  }

  /** With what was declared for its kind. What is stored for later has no more than that. */
  public Job declared(Job job) {
    @Nullable JobDefaults defaults = byKind.isEmpty() ? null : byKind.get(job.kind());
    return defaults == null ? job : job.or(defaults);
  }

  public List<Job> declared(List<Job> jobs) {
    return byKind.isEmpty() ? jobs : jobs.stream().map(this::declared).toList();
  }

  /** With all values that a job needs. */
  Job applied(Job job) {
    return retries.applied(declared(job));
  }
}
