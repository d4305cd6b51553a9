package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.ProcessExit;
import dev.holdfast.model.ops.WorkerExit;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How one process of a supervised worker ended. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record WorkerExitResource(
    String supervisor,
    @Nullable Long pid,
    @Nullable Instant startedAt,
    Instant endedAt,
    String status,
    @Nullable WorkerExit exit,
    String reason) {
  private static WorkerExitResource of(ProcessExit exit) {
    Integer code = exit.exitCode();
    return new WorkerExitResource(
        exit.supervisor(),
        exit.pid(),
        exit.startedAt(),
        exit.endedAt(),
        exit.status().text(),
        code == null ? null : WorkerExit.of(code),
        exit.reason());
  }

  private ProcessExit processExit() {
    return new ProcessExit(
        supervisor,
        pid,
        startedAt,
        endedAt,
        HealthStatus.of(status),
        exit == null ? null : Integer.valueOf(exit.code()),
        reason);
  }

  /** The latest first. */
  public record Exits(List<WorkerExitResource> exits) {
    public Exits {
      exits = List.copyOf(Wire.present("exits", exits));
    }

    public List<ProcessExit> all() {
      return exits.stream().map(WorkerExitResource::processExit).toList();
    }

    public static Exits of(List<ProcessExit> exits) {
      return new Exits(exits.stream().map(WorkerExitResource::of).toList());
    }
  }
}
