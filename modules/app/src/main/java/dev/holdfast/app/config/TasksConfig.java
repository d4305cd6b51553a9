package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.duration;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Timings;
import java.time.Duration;
import java.util.List;

/** Heartbeats, leases and tokens of tasks that workers get over HTTP. */
public record TasksConfig(Timings timings, TokenLifetime tokens) {
  private static final SettingType<Duration> SPAN =
      duration(Duration.ofMillis(1), SettingType.YEAR);

  static final Setting<Duration> HEARTBEAT_INTERVAL =
      Setting.of(
              "tasks.heartbeatInterval",
              SPAN,
              "30s",
              "how often a worker sends heartbeats over HTTP")
          .named("HEARTBEAT_INTERVAL_MS", "ms");

  static final Setting<Duration> HEARTBEAT_TIMEOUT =
      Setting.of(
              "tasks.heartbeatTimeout",
              SPAN,
              "90s",
              "how long a task stays leased without a heartbeat; two intervals at least")
          .named("HEARTBEAT_TIMEOUT_MS", "ms");

  static final Setting<Duration> CANCEL_GRACE_PERIOD =
      Setting.of(
              "tasks.cancelGracePeriod", SPAN, "30s", "how long a cancelled task may take to stop")
          .named("CANCEL_GRACE_PERIOD_MS", "ms");

  static final Setting<Duration> TOKEN_TTL =
      Setting.of(
              "tasks.tokenTtl",
              duration(Duration.ofSeconds(1), TokenLifetime.LONGEST),
              "1h",
              "how long a task token is valid")
          .named("TOKEN_TTL_SECONDS", "s");

  static final Concern CONCERN =
      new Concern(
          "Tasks over HTTP",
          List.of(HEARTBEAT_INTERVAL, HEARTBEAT_TIMEOUT, CANCEL_GRACE_PERIOD, TOKEN_TTL),
          TasksConfig::read);

  static TasksConfig read(SettingValues values) {
    Duration interval = values.get(HEARTBEAT_INTERVAL);
    Duration timeout = values.get(HEARTBEAT_TIMEOUT);
    // One lost heartbeat must not cost the task.
    if (timeout.compareTo(interval.plus(interval)) < 0) {
      throw values.wrong(
          HEARTBEAT_TIMEOUT,
          "at least twice %s (%s)"
              .formatted(HEARTBEAT_INTERVAL.variable(), Durations.compact(interval)));
    }
    return new TasksConfig(
        new Timings(interval, timeout, Duration.ZERO, values.get(CANCEL_GRACE_PERIOD)),
        new TokenLifetime(values.get(TOKEN_TTL)));
  }
}
