package dev.holdfast.operate;

import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.queue.Admin;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Schedules, on the database. */
final class LocalSchedules implements ScheduleOperator {
  private final Admin admin;
  private final Principal caller;

  LocalSchedules(Admin admin, Principal caller) {
    this.admin = admin;
    this.caller = caller;
  }

  private Admin admin() {
    caller.mustSeeEveryTenant("a schedule");
    return admin;
  }

  @Override
  public List<View> list() {
    Map<String, Pause> pauses = admin().schedulePauses();
    return admin.schedules().stream()
        .map(status -> new View(status, pauses.get(status.name())))
        .toList();
  }

  @Override
  public Optional<View> find(String name) {
    return list().stream().filter(each -> each.name().equals(name)).findFirst();
  }

  @Override
  public View set(Schedule schedule) {
    admin().schedule(schedule);
    return find(schedule.name()).orElseThrow(LocalSchedules::unknown);
  }

  @Override
  public Enqueued run(String name) {
    return admin().runSchedule(name).orElseThrow(LocalSchedules::unknown);
  }

  private static OperatorException unknown() {
    return new OperatorException(
        OperatorException.Reason.NOT_FOUND, "there is no schedule of that name");
  }

  @Override
  public boolean pause(String name, @Nullable String reason) {
    return admin().pauseSchedule(name, new Pause.Draft(caller.name(), reason));
  }

  @Override
  public boolean resume(String name) {
    return admin().resumeSchedule(name);
  }

  @Override
  public boolean remove(String name) {
    return admin().removeSchedule(name);
  }
}
