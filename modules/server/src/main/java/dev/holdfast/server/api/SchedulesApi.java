package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.Shape;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.schedule.Cron;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.WhenMissed;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queue;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Schedules. They belong to no tenant, so only keys for all tenants may use them. */
public final class SchedulesApi {
  private final Queue queue;

  public SchedulesApi(Queue queue) {
    this.queue = queue;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/schedules", Guard.READ, this::list),
        Route.get("/v1/schedules/{name}", Guard.READ, call -> shown(named(call))),
        Route.put("/v1/schedules/{name}", Guard.OPERATE, this::set),
        Route.delete("/v1/schedules/{name}", Guard.OPERATE, this::remove),
        Route.post("/v1/schedules/{name}/pause", Guard.OPERATE, this::pause).maxBody(Route.SMALL),
        Route.post("/v1/schedules/{name}/resume", Guard.OPERATE, this::resume)
            .maxBody(Route.SMALL));
  }

  /** The times, and the job to enqueue. */
  record ScheduleRequest(
      String cron,
      @Nullable String zone,
      String kind,
      @Nullable Json payload,
      @Nullable String queue,
      @Nullable Integer priority,
      @Nullable Integer maxAttempts,
      @Nullable Integer maxCrashes,
      @Nullable Long timeoutMs,
      @Nullable WhenMissed missed,
      @Nullable Boolean overlap) {
    ScheduleRequest {
      Wire.present("cron", cron);
      Wire.present("kind", kind);
    }

    Schedule schedule(String name) {
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
          missed == null ? WhenMissed.ONCE : missed,
          overlap == null || overlap);
    }

    private ZoneId zoneId() {
      try {
        return ZoneId.of(zone == null ? "UTC" : zone);
      } catch (DateTimeException unknown) {
        throw new Problem(
            422, "bad_schedule", "field 'zone' must be a time zone such as Europe/Berlin or UTC");
      }
    }
  }

  private Optional<ScheduleStatus> find(String name) {
    return queue.schedules().stream().filter(status -> status.name().equals(name)).findFirst();
  }

  private Answer shown(String name) {
    return Answer.ok(
        Shape.schedule(
            find(name).orElseThrow(() -> Problem.notFound("there is no schedule of that name"))));
  }

  private static String named(Call call) {
    call.caller().mustSeeEveryTenant("a schedule");
    return Limits.word("schedule", call.value("name"));
  }

  private Answer list(Call call) {
    call.caller().mustSeeEveryTenant("a schedule");
    ObjectNode node = Wire.object();
    node.putArray("schedules").addAll(queue.schedules().stream().map(Shape::schedule).toList());
    return Answer.ok(node);
  }

  private Answer set(Call call) {
    String name = named(call);
    queue.schedule(call.body(ScheduleRequest.class).schedule(name));
    return shown(name);
  }

  private Answer remove(Call call) {
    String name = named(call);
    Answer was = shown(name);
    queue.removeSchedule(name);
    return was;
  }

  private Answer pause(Call call) {
    String name = named(call);
    queue.pauseSchedule(name);
    return shown(name);
  }

  private Answer resume(Call call) {
    String name = named(call);
    queue.resumeSchedule(name);
    return shown(name);
  }
}
