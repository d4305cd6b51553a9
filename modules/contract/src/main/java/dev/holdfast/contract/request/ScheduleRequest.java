package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.schedule.Cron;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** A schedule to create or replace. Fields that are absent have the defaults of the library. */
public record ScheduleRequest(
    String cron,
    @Nullable String zone,
    String kind,
    @Nullable Json payload,
    @Nullable String queue,
    @Nullable Integer priority,
    @Nullable Integer maxAttempts,
    @Nullable Integer maxCrashes,
    @Nullable Long timeoutMs,
    @Nullable MissedFires missedFires,
    @Nullable Boolean allowOverlap) {
  public ScheduleRequest {
    Wire.present("cron", cron);
    Wire.present("kind", kind);
  }

  public static ScheduleRequest of(Schedule schedule) {
    Job job = schedule.job();
    return new ScheduleRequest(
        schedule.cron().toString(),
        schedule.zone().getId(),
        job.kind(),
        JobRequests.payload(job),
        job.queue(),
        job.priority(),
        job.maxAttempts(),
        job.maxCrashes(),
        job.timeout() == null ? null : Long.valueOf(job.timeout().toMillis()),
        schedule.missedFires(),
        schedule.allowOverlap());
  }

  public Schedule schedule(String name) {
    Job job = Job.of(kind, payload == null ? Json.EMPTY : payload);
    job = queue == null ? job : job.queue(queue);
    job = priority == null ? job : job.priority(priority);
    job = maxAttempts == null ? job : job.maxAttempts(maxAttempts);
    job = maxCrashes == null ? job : job.maxCrashes(maxCrashes);
    job = timeoutMs == null ? job : job.timeout(Duration.ofMillis(timeoutMs));
    return new Schedule(
        name,
        Cron.parse(cron),
        zoneId(),
        job,
        missedFires == null ? MissedFires.ONCE : missedFires,
        allowOverlap == null || allowOverlap);
  }

  private ZoneId zoneId() {
    try {
      return ZoneId.of(zone == null ? "UTC" : zone);
    } catch (DateTimeException unknown) {
      throw new RefusedException(
          Refusal.BAD_SCHEDULE, "field 'zone' must be a time zone such as Europe/Berlin or UTC");
    }
  }
}
