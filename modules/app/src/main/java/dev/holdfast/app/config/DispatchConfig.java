package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.duration;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where tasks may be pushed to.
 *
 * @param timeout null for 10 seconds, or half of the heartbeat timeout where that is shorter
 */
public record DispatchConfig(Set<String> allow, @Nullable Duration timeout) {
  static final Setting<Set<String>> ALLOW =
      Setting.of(
          "dispatch.allow",
          HostNames.WITH_PORTS,
          "hosts that tasks may be pushed to, a list of host or host:port");

  static final Setting<Duration> TIMEOUT =
      Setting.of(
          "dispatch.timeout",
          duration(Duration.ofMillis(1), SettingType.YEAR),
          "how long to wait for the answer to a push; 10s unless given, half of"
              + " tasks.heartbeatTimeout at most");

  static final Concern CONCERN =
      new Concern("Dispatch", List.of(ALLOW, TIMEOUT), DispatchConfig::read);

  static DispatchConfig read(SettingValues values) {
    Duration timeout = values.find(TIMEOUT).orElse(null);
    Duration lease = TasksConfig.read(values).timings().lease();
    // The task is leased during the push and must be released before the lease expires.
    if (timeout != null && timeout.compareTo(lease.dividedBy(2)) > 0) {
      throw values.wrong(
          TIMEOUT,
          "at most half of %s (%s)"
              .formatted(TasksConfig.HEARTBEAT_TIMEOUT.variable(), Durations.compact(lease)));
    }
    return new DispatchConfig(values.get(ALLOW), timeout);
  }
}
