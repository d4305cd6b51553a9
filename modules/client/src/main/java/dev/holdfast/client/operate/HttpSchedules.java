package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.contract.request.PauseRequest;
import dev.holdfast.contract.request.ScheduleRequest;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.schedule.Schedule;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Schedules, through a server. */
final class HttpSchedules implements ScheduleOperator {
  private final OperatorCalls server;

  HttpSchedules(OperatorCalls server) {
    this.server = server;
  }

  private static String path(String name) {
    return "/v1/schedules/" + encoded(name);
  }

  @Override
  public List<View> list() {
    return server.list("/v1/schedules", "schedules", View.class);
  }

  @Override
  public Optional<View> find(String name) {
    return server.find(path(name), View.class);
  }

  @Override
  public View set(Schedule schedule) {
    return server.put(path(schedule.name()), ScheduleRequest.of(schedule), View.class);
  }

  @Override
  public Enqueued run(String name) {
    return server.post(path(name) + "/run", OperatorCalls.NOTHING, Enqueued.class);
  }

  @Override
  public boolean pause(String name, @Nullable String reason) {
    return change(name, "pause", new PauseRequest(reason), false);
  }

  @Override
  public boolean resume(String name) {
    return change(name, "resume", OperatorCalls.NOTHING, true);
  }

  /** True when the schedule was there, and paused or not as it had to be. */
  private boolean change(String name, String verb, Object body, boolean whenPaused) {
    Optional<View> before = find(name);
    before.ifPresent(found -> server.post(path(name) + "/" + verb, body));
    return before.map(found -> (found.status().pausedAt() != null) == whenPaused).orElse(false);
  }

  @Override
  public boolean remove(String name) {
    return server.delete(path(name));
  }
}
