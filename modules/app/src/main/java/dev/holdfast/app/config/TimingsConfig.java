package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.Section;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.attempt.Timings;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Heartbeats and leases of workers that are connected to the database. */
@Section(title = "Leases", key = "timings")
public record TimingsConfig(
    @Declared(
            oneOf = {"development", "production", "high-reliability"},
            about = "a heartbeat and a lease that fit each other; the single values override it")
        @Nullable String preset,
    @Declared(
            variable = "HEARTBEAT_INTERVAL_SEC",
            value = "10s",
            least = "1ms",
            about = "how often a worker extends its leases")
        Duration heartbeatInterval,
    @Declared(
            variable = "LEASE_TIMEOUT_SEC",
            least = "1ms",
            about =
                "how long a lease lasts without a heartbeat; three heartbeats unless given, two at"
                    + " least")
        @Nullable Duration leaseTimeout,
    @Declared(value = "0s", about = "how long the reaper waits after a lease has expired")
        Duration reapGrace,
    @Declared(
            variable = "CANCEL_GRACE_SEC",
            value = "30s",
            least = "1ms",
            about = "how long a cancelled handler may take to stop")
        Duration cancelGrace) {
  public TimingsConfig {
    leaseTimeout = leaseTimeout == null ? Timings.leaseFor(heartbeatInterval) : leaseTimeout;
    var unused = new Timings(heartbeatInterval, leaseTimeout, reapGrace, cancelGrace);
  }

  public Timings timings() {
    return new Timings(
        heartbeatInterval, Objects.requireNonNull(leaseTimeout), reapGrace, cancelGrace);
  }

  /** A preset replaces defaults; a single value that was given overrides it. */
  static void applyPreset(SettingValues values) {
    if (!values.isGiven("timings.preset")) {
      return;
    }
    try {
      String name = (String) values.get("timings.preset");
      Timings preset = Timings.preset(name);
      String origin = "preset " + name;
      values.putDefault("timings.heartbeatInterval", Durations.compact(preset.heartbeat()), origin);
      values.putDefault("timings.leaseTimeout", Durations.compact(preset.lease()), origin);
    } catch (CommandException unknown) {
      // Reported when the timings are read, so that 'holdfast config' can show it.
    }
  }
}
