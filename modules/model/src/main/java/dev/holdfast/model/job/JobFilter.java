package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to list, newest first.
 *
 * @param states none means all
 * @param tenant whose jobs; null is everybody's
 * @param content what must stand in the job, which no index knows
 * @param from the least id: ids begin with the time they were made at
 * @param before the last id of the page before, or the first that is too late
 */
public record JobFilter(
    Set<JobState> states,
    @Nullable String queue,
    @Nullable String kind,
    @Nullable String tenant,
    @Nullable JobId run,
    @Nullable JobId parent,
    JobContent content,
    @Nullable JobId from,
    @Nullable JobId before,
    int limit) {
  public static final int MOST = 1_000;
  public static final JobFilter ALL =
      new JobFilter(Set.of(), null, null, null, null, null, JobContent.ANY, null, null, 50);

  public JobFilter {
    states = Set.copyOf(states);
    // A name that no job can have is a mistake, and some of them the database cannot even read.
    if (queue != null) {
      Limits.queue(queue);
    }
    if (kind != null) {
      Limits.kind(kind);
    }
    if (tenant != null) {
      Limits.word("tenant", tenant);
    }
    if (limit < 1 || limit > MOST) {
      throw new IllegalArgumentException("limit " + limit + " must lie between 1 and " + MOST);
    }
  }

  public JobFilter states(Set<JobState> value) {
    return new JobFilter(value, queue, kind, tenant, run, parent, content, from, before, limit);
  }

  public JobFilter queue(@Nullable String value) {
    return new JobFilter(states, value, kind, tenant, run, parent, content, from, before, limit);
  }

  public JobFilter kind(@Nullable String value) {
    return new JobFilter(states, queue, value, tenant, run, parent, content, from, before, limit);
  }

  public JobFilter tenant(@Nullable String value) {
    return new JobFilter(states, queue, kind, value, run, parent, content, from, before, limit);
  }

  public JobFilter run(@Nullable JobId value) {
    return new JobFilter(states, queue, kind, tenant, value, parent, content, from, before, limit);
  }

  public JobFilter parent(@Nullable JobId value) {
    return new JobFilter(states, queue, kind, tenant, run, value, content, from, before, limit);
  }

  public JobFilter content(JobContent value) {
    return new JobFilter(states, queue, kind, tenant, run, parent, value, from, before, limit);
  }

  /** Of the content, the text. */
  public JobFilter text(@Nullable String value) {
    return content(content.text(value));
  }

  public JobFilter from(@Nullable JobId value) {
    return new JobFilter(states, queue, kind, tenant, run, parent, content, value, before, limit);
  }

  public JobFilter before(@Nullable JobId value) {
    return new JobFilter(states, queue, kind, tenant, run, parent, content, from, value, limit);
  }

  /** From where the page before stopped. */
  public JobFilter resumed(@Nullable JobId cursor) {
    boolean later = cursor == null || (before != null && before.compareTo(cursor) < 0);
    return later ? this : before(cursor);
  }

  public JobFilter limit(int value) {
    return new JobFilter(states, queue, kind, tenant, run, parent, content, from, before, value);
  }
}
