package dev.holdfast.app.config;

import dev.holdfast.app.setting.ContradictionException;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Timings;
import java.time.Duration;

/** Heartbeats, leases and tokens of tasks that workers get over HTTP. */
@Section(title = "Tasks over HTTP", key = "tasks")
public record TasksConfig(
    @Declared(
            variable = "HEARTBEAT_INTERVAL_MS",
            value = "30s",
            least = "1ms",
            about = "how often a worker sends heartbeats over HTTP")
        Duration heartbeatInterval,
    @Declared(
            variable = "HEARTBEAT_TIMEOUT_MS",
            value = "90s",
            least = "1ms",
            about = "how long a task stays leased without a heartbeat; two intervals at least")
        Duration heartbeatTimeout,
    @Declared(
            variable = "CANCEL_GRACE_PERIOD_MS",
            value = "30s",
            least = "1ms",
            about = "how long a cancelled task may take to stop")
        Duration cancelGracePeriod,
    @Declared(
            variable = "TOKEN_TTL_SECONDS",
            value = "1h",
            least = "1s",
            most = TokenLifetime.LONGEST_TEXT,
            about = "how long a task token is valid")
        Duration tokenTtl) {
  public TasksConfig {
    // One lost heartbeat must not cost the task.
    if (heartbeatTimeout.compareTo(heartbeatInterval.plus(heartbeatInterval)) < 0) {
      throw new ContradictionException(
          "heartbeatTimeout", "at least twice {}", "heartbeatInterval");
    }
  }

  public Timings timings() {
    return new Timings(heartbeatInterval, heartbeatTimeout, Duration.ZERO, cancelGracePeriod);
  }

  public TokenLifetime tokens() {
    return new TokenLifetime(tokenTtl);
  }
}
