package dev.holdfast.model.schedule;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
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

  public static Schedule of(String name, String cron, ZoneId zone, Job job) {
    return new Schedule(name, Cron.parse(cron), zone, job, MissedFires.ONCE, true);
  }

  public Schedule missedFires(MissedFires value) {
    return new Schedule(name, cron, zone, job, value, allowOverlap);
  }

  /** A time at which the last job has not ended yet brings no new one. */
  public Schedule withoutOverlap() {
    return new Schedule(name, cron, zone, job, missedFires, false);
  }
}
