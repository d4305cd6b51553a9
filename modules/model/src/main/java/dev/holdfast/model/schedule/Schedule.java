package dev.holdfast.model.schedule;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.ZoneId;

/**
 * Enqueues a job again and again. Any worker or server fires it, and only one of them each time.
 *
 * @param job what to enqueue: its kind, queue, priority, payload, budgets and timeout
 * @param allowOverlap whether a job may be enqueued while the previous one has not ended
 */
public record Schedule(
    String name, Cron cron, ZoneId zone, Job job, MissedFires missedFires, boolean allowOverlap) {
  public Schedule {
    Limits.word("schedule", name);
    if (!job.dependsOn().isEmpty()
        || job.unique() != null
        || job.concurrencyKey() != null
        || job.parent() != null
        || job.hasAttributes()
        || job.deadline() != null
        || job.runAt() != null
        || !job.delay().isZero()) {
      throw new RefusedException(
          Refusal.BAD_SCHEDULE,
          "schedule '%s': its job can have a queue, priority, budgets and a timeout, and nothing else"
              .formatted(name));
    }
  }

  /** By a cron expression, as {@link Cron} describes it. */
  public static Schedule of(String name, String cron, ZoneId zone, Job job) {
    return new Schedule(name, Cron.parse(cron), zone, job, MissedFires.ONCE, true);
  }

  /**
   * Again and again after this long, for the first time after one interval. The times are counted
   * from each other, so that they do not drift.
   */
  public static Schedule every(String name, Duration interval, Job job) {
    return new Schedule(name, Cron.every(interval), ZoneId.of("UTC"), job, MissedFires.ONCE, true);
  }

  /** Enqueues another job. */
  public Schedule job(Job value) {
    return new Schedule(name, cron, zone, value, missedFires, allowOverlap);
  }

  /** What to do about times at which no process ran to fire it; one job for all of them. */
  public Schedule missedFires(MissedFires value) {
    return new Schedule(name, cron, zone, job, value, allowOverlap);
  }

  /** A time at which the last job has not ended yet brings no new one. */
  public Schedule withoutOverlap() {
    return new Schedule(name, cron, zone, job, missedFires, false);
  }
}
