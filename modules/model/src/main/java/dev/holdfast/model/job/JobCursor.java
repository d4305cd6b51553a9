package dev.holdfast.model.job;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A place in the order of jobs: by the time of their creation, which the database sets, and among
 * jobs of one transaction by their ids. Ids alone say nothing about time: clients choose them.
 */
public record JobCursor(Instant createdAt, JobId id) implements Comparable<JobCursor> {
  private static final JobId LEAST = JobId.parse("00000000-0000-0000-0000-000000000000");
  private static final JobId GREATEST = JobId.parse("ffffffff-ffff-ffff-ffff-ffffffffffff");
  private static final Instant FIRST = Instant.EPOCH;
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

  public JobCursor {
    // As precise as PostgreSQL, or a cursor that was sent and read would be another one.
    createdAt = createdAt.truncatedTo(ChronoUnit.MICROS);
  }

  /** Where this job stands. */
  public static JobCursor of(JobStatus job) {
    return new JobCursor(job.createdAt(), job.id());
  }

  /** Before all jobs that were created at this moment or later. */
  public static JobCursor at(Instant moment) {
    return new JobCursor(moment, LEAST);
  }

  /** Whether it is a time, and no job of that time. */
  public boolean isMoment() {
    return id.equals(LEAST);
  }

  /** Reads what {@link #toString} returns, and refuses everything else. */
  public static JobCursor parse(String text) {
    int end = text.indexOf('_');
    if (end >= 0) {
      try {
        Instant createdAt = Instant.parse(text.substring(0, end));
        if (!createdAt.isBefore(FIRST) && !createdAt.isAfter(LAST)) {
          return new JobCursor(createdAt, JobId.parse(text.substring(end + 1)));
        }
      } catch (DateTimeException | RefusedException notOne) {
        // said below
      }
    }
    throw new RefusedException(
        Refusal.BAD_LIMIT, "the cursor is not one that a page of jobs or runs returned as 'next'");
  }

  /** The next greater one. */
  public JobCursor following() {
    return id.equals(GREATEST)
        ? new JobCursor(createdAt.plus(1, ChronoUnit.MICROS), LEAST)
        : new JobCursor(createdAt, id.following());
  }

  /** The next lesser one. */
  public JobCursor preceding() {
    return id.equals(LEAST)
        ? new JobCursor(createdAt.minus(1, ChronoUnit.MICROS), GREATEST)
        : new JobCursor(createdAt, id.preceding());
  }

  @Override
  public int compareTo(JobCursor other) {
    int time = createdAt.compareTo(other.createdAt);
    return time != 0 ? time : id.compareTo(other.id);
  }

  @Override
  public String toString() {
    return createdAt + "_" + id;
  }
}
