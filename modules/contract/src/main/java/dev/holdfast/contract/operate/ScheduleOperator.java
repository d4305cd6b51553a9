package dev.holdfast.contract.operate;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What an operator of all tenants can do with schedules. */
public interface ScheduleOperator {
  List<View> list();

  Optional<View> find(String name);

  /** Makes a schedule, or changes the one of that name. */
  View set(Schedule schedule);

  /** Enqueues the job of a schedule now. */
  Enqueued run(String name);

  /** False when there is no such schedule, or it was paused before. */
  boolean pause(String name, @Nullable String reason);

  /** False when there is no such schedule, or it was not paused. */
  boolean resume(String name);

  /** False when there is no such schedule. */
  boolean remove(String name);

  /**
   * A schedule.
   *
   * @param pause who has paused it, and why; null while it is not paused
   */
  record View(
      @JsonUnwrapped ScheduleStatus status,
      @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable Pause pause) {
    public String name() {
      return status.name();
    }
  }
}
