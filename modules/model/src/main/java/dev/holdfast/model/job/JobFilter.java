package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.wait.WaitSort;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to list, in the order of their creation.
 *
 * @param states none means all
 * @param tenant whose jobs; null is everybody's
 * @param tag that the job must have
 * @param waits what their handlers wait for; null for all jobs
 * @param content text that the job must contain, which no index covers
 * @param from the first that may be listed: a time, or the end of the page before
 * @param before the end of the page before, or the first time that is too late
 * @param oldestFirst instead of newest first
 */
public record JobFilter(
    Set<JobState> states,
    @Nullable String queue,
    @Nullable String kind,
    @Nullable String tenant,
    @Nullable JobId run,
    @Nullable JobId parent,
    @Nullable String tag,
    @Nullable WaitSort waits,
    JobContent content,
    @Nullable JobCursor from,
    @Nullable JobCursor before,
    int limit,
    boolean oldestFirst) {
  /** How many jobs one list has at most. */
  public static final int MOST = 1_000;

  /** All jobs, the newest 50; to begin with. */
  public static final JobFilter ALL =
      new JobFilter(
          Set.of(),
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          JobContent.ANY,
          null,
          null,
          50,
          false);

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
    if (tag != null) {
      Limits.tag(tag);
    }
    if (limit < 1 || limit > MOST) {
      throw new IllegalArgumentException("limit " + limit + " must be between 1 and " + MOST);
    }
  }

  /** In one of these states; none means all. */
  public JobFilter states(Set<JobState> value) {
    return new JobFilter(
        value,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Of this queue. */
  public JobFilter queue(@Nullable String value) {
    return new JobFilter(
        states,
        value,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Of this kind. */
  public JobFilter kind(@Nullable String value) {
    return new JobFilter(
        states,
        queue,
        value,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Of this tenant; null is everybody. */
  public JobFilter tenant(@Nullable String value) {
    return new JobFilter(
        states,
        queue,
        kind,
        value,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Of this run. */
  public JobFilter run(@Nullable JobId value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        value,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Children of this job. */
  public JobFilter parent(@Nullable JobId value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        value,
        tag,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** With this tag. */
  public JobFilter tag(@Nullable String value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        value,
        waits,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Whose handlers wait for this. */
  public JobFilter waits(@Nullable WaitSort value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        value,
        content,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** With this content. */
  public JobFilter content(JobContent value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        value,
        from,
        before,
        limit,
        oldestFirst);
  }

  /** Of the content, the text. */
  public JobFilter text(@Nullable String value) {
    return content(content.text(value));
  }

  /** Not older than this; {@link JobCursor#at} makes one of a time. */
  public JobFilter from(@Nullable JobCursor value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        value,
        before,
        limit,
        oldestFirst);
  }

  /** Older than this: than a job, by {@link JobCursor#of}, or than a time. */
  public JobFilter before(@Nullable JobCursor value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        value,
        limit,
        oldestFirst);
  }

  /** From where the page before stopped. */
  public JobFilter resumed(@Nullable JobCursor cursor) {
    if (oldestFirst && cursor != null) {
      JobCursor next = cursor.following();
      return from != null && from.compareTo(next) > 0 ? this : from(next);
    }
    boolean later = cursor == null || (before != null && before.compareTo(cursor) < 0);
    return later ? this : before(cursor);
  }

  /** How many. */
  public JobFilter limit(int value) {
    return new JobFilter(
        states,
        queue,
        kind,
        tenant,
        run,
        parent,
        tag,
        waits,
        content,
        from,
        before,
        value,
        oldestFirst);
  }

  /** Oldest first instead of newest first. */
  public JobFilter oldestFirst(boolean value) {
    return new JobFilter(
        states, queue, kind, tenant, run, parent, tag, waits, content, from, before, limit, value);
  }
}
