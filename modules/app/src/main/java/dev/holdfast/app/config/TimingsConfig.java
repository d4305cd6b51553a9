package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.oneOf;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.List;

/** Heartbeats and leases of workers that are connected to the database. */
public record TimingsConfig(Timings timings) {
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  static final Setting<String> PRESET =
      Setting.of(
          "timings.preset",
          oneOf("development", "production", "high-reliability"),
          "a heartbeat and a lease that fit each other; the single values override it");

  static final Setting<Duration> HEARTBEAT_INTERVAL =
      Setting.of(
              "timings.heartbeatInterval",
              duration(MILLISECOND, SettingType.YEAR),
              "10s",
              "how often a worker extends its leases")
          .named("HEARTBEAT_INTERVAL_SEC", "s");

  static final Setting<Duration> LEASE_TIMEOUT =
      Setting.of(
              "timings.leaseTimeout",
              duration(MILLISECOND, SettingType.YEAR),
              "how long a lease lasts without a heartbeat; three heartbeats unless given, two at"
                  + " least")
          .named("LEASE_TIMEOUT_SEC", "s");

  static final Setting<Duration> REAP_GRACE =
      Setting.of(
          "timings.reapGrace",
          duration(Duration.ZERO, SettingType.YEAR),
          "0s",
          "how long the reaper waits after a lease has expired");

  static final Setting<Duration> CANCEL_GRACE =
      Setting.of(
              "timings.cancelGrace",
              duration(MILLISECOND, SettingType.YEAR),
              "30s",
              "how long a cancelled handler may take to stop")
          .named("CANCEL_GRACE_SEC", "s");

  static final Concern CONCERN =
      new Concern(
          "Leases",
          List.of(PRESET, HEARTBEAT_INTERVAL, LEASE_TIMEOUT, REAP_GRACE, CANCEL_GRACE),
          TimingsConfig::read);

  static TimingsConfig read(SettingValues values) {
    var unused = values.find(PRESET);
    Duration heartbeat = values.get(HEARTBEAT_INTERVAL);
    try {
      return new TimingsConfig(
          new Timings(
              heartbeat,
              values.getOr(LEASE_TIMEOUT, () -> Timings.leaseFor(heartbeat)),
              values.get(REAP_GRACE),
              values.get(CANCEL_GRACE)));
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }

  /** A preset replaces defaults; a single value that was given overrides it. */
  static void applyPreset(SettingValues values) {
    try {
      values
          .find(PRESET)
          .ifPresent(
              name -> {
                Timings preset = Timings.preset(name);
                String origin = "preset " + name;
                values.putDefault(
                    HEARTBEAT_INTERVAL, Durations.compact(preset.heartbeat()), origin);
                values.putDefault(LEASE_TIMEOUT, Durations.compact(preset.lease()), origin);
              });
    } catch (CommandException unknown) {
      // Reported when the timings are read, so that 'holdfast config' can show it.
    }
  }
}
