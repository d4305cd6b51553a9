package dev.holdfast.app.config;

import dev.holdfast.app.setting.ContradictionException;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.supervisor.RestartPolicy;
import java.nio.file.Path;
import java.time.Duration;

/** How worker processes are watched and started again. */
@Section(title = "Supervisor", key = "supervisor")
public record SupervisorConfig(
    @Declared(about = "name of this supervisor; the name of the machine unless given") String name,
    @Declared(value = "5s", least = "10ms", about = "how often a worker process reports health")
        Duration healthInterval,
    @Declared(
            value = "30s",
            least = "10ms",
            about = "a worker process that has not reported for this long counts as crashed")
        Duration healthTimeout,
    @Declared(
            value = "1m",
            least = "10ms",
            about = "how long a worker process may take to become healthy")
        Duration bootTimeout,
    @Declared(
            value = "10s",
            about = "how long running jobs may take to finish when their worker process is stopped")
        Duration stopTimeout,
    @Declared(
            value = "5m",
            about =
                "a process is restarted when a handler still runs this long after its attempt ended")
        Duration overdueHandlerTimeout,
    @Declared(
            value = "1s",
            about = "delay before the first restart; it doubles with each further one")
        Duration restartDelay,
    @Declared(value = "1m", about = "longest delay before a restart") Duration restartMaxDelay,
    @Declared(
            value = "5",
            about = "restarts within the window after which a worker process is failed")
        int restartLimit,
    @Declared(value = "5m", about = "the window of the restart limit") Duration restartWindow,
    @Declared(
            value = "20",
            about =
                "restarts in total after which a worker process is failed, however healthy it was between")
        int restartLifetimeLimit,
    @Declared(
            value = "5m",
            about =
                "a worker process that was healthy for this long starts its backoff and the rapid restarts anew")
        Duration restartReset,
    @Declared(
            inFolder = "logs",
            about = "holds the output of worker processes; 'logs' in the folder unless given")
        Path logsFolder,
    @Declared(
            value = "20MB",
            least = "1MB",
            most = "1000000MB",
            about = "how much output is kept of each worker process")
        long logSize) {
  public SupervisorConfig {
    name = name.isBlank() ? Machine.name() : name.strip();
    if (healthTimeout.compareTo(healthInterval) <= 0) {
      throw new ContradictionException("healthTimeout", "more than {}", "healthInterval");
    }
  }

  public RestartPolicy restarts() {
    return new RestartPolicy(
        restartLimit,
        restartWindow,
        restartLifetimeLimit,
        restartReset,
        restartDelay,
        restartMaxDelay);
  }
}
