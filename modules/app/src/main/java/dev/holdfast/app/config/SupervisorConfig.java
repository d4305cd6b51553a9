package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.PATH;
import static dev.holdfast.app.setting.SettingType.TEXT;
import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.size;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.supervisor.RestartPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** How worker processes are watched and started again. */
public record SupervisorConfig(
    String name,
    Duration healthInterval,
    Duration healthTimeout,
    Duration bootTimeout,
    Duration stopTimeout,
    Duration overdueHandlerTimeout,
    RestartPolicy restarts,
    Path logsFolder,
    long logBytes) {
  private static final long MEGABYTE = 1 << 20;
  private static final SettingType<Duration> INTERVAL =
      duration(Duration.ofMillis(10), SettingType.YEAR);
  private static final SettingType<Duration> SPAN = duration(Duration.ZERO, SettingType.YEAR);

  public static final Setting<String> NAME =
      Setting.of(
          "supervisor.name", TEXT, "name of this supervisor; the name of the machine unless given");

  static final Setting<Duration> HEALTH_INTERVAL =
      Setting.of(
          "supervisor.healthInterval", INTERVAL, "5s", "how often a worker process reports health");

  static final Setting<Duration> HEALTH_TIMEOUT =
      Setting.of(
          "supervisor.healthTimeout",
          INTERVAL,
          "30s",
          "a worker process that has not reported for this long counts as crashed");

  public static final Setting<Duration> BOOT_TIMEOUT =
      Setting.of(
          "supervisor.bootTimeout",
          INTERVAL,
          "1m",
          "how long a worker process may take to become healthy");

  public static final Setting<Duration> STOP_TIMEOUT =
      Setting.of(
          "supervisor.stopTimeout",
          SPAN,
          "10s",
          "how long running jobs may take to finish when their worker process is stopped");

  static final Setting<Duration> OVERDUE_HANDLER_TIMEOUT =
      Setting.of(
          "supervisor.overdueHandlerTimeout",
          SPAN,
          "5m",
          "a process is restarted when a handler still runs this long after its attempt ended");

  static final Setting<Duration> RESTART_DELAY =
      Setting.of(
          "supervisor.restartDelay",
          SPAN,
          "1s",
          "delay before the first restart; it doubles with each further one");

  static final Setting<Duration> RESTART_MAX_DELAY =
      Setting.of("supervisor.restartMaxDelay", SPAN, "1m", "longest delay before a restart");

  static final Setting<Integer> RESTART_LIMIT =
      Setting.of(
          "supervisor.restartLimit",
          whole(0, 1_000_000),
          "5",
          "restarts within the window after which a worker process is failed");

  static final Setting<Duration> RESTART_WINDOW =
      Setting.of("supervisor.restartWindow", SPAN, "5m", "the window of the restart limit");

  static final Setting<Integer> RESTART_LIFETIME_LIMIT =
      Setting.of(
          "supervisor.restartLifetimeLimit",
          whole(0, 1_000_000),
          "20",
          "restarts in total after which a worker process is failed, however healthy it was between");

  static final Setting<Duration> RESTART_RESET =
      Setting.of(
          "supervisor.restartReset",
          SPAN,
          "5m",
          "a worker process that was healthy for this long starts its backoff and the rapid restarts anew");

  static final Setting<Path> LOGS_FOLDER =
      Setting.of(
          "supervisor.logsFolder",
          PATH,
          "holds the output of worker processes; 'logs' in the folder unless given");

  static final Setting<Long> LOG_SIZE =
      Setting.of(
          "supervisor.logSize",
          size(MEGABYTE, 1_000_000 * MEGABYTE),
          "20MB",
          "how much output is kept of each worker process");

  static final Concern CONCERN =
      new Concern(
          "Supervisor",
          List.of(
              NAME,
              HEALTH_INTERVAL,
              HEALTH_TIMEOUT,
              BOOT_TIMEOUT,
              STOP_TIMEOUT,
              OVERDUE_HANDLER_TIMEOUT,
              RESTART_DELAY,
              RESTART_MAX_DELAY,
              RESTART_LIMIT,
              RESTART_WINDOW,
              RESTART_LIFETIME_LIMIT,
              RESTART_RESET,
              LOGS_FOLDER,
              LOG_SIZE),
          SupervisorConfig::read);

  static SupervisorConfig read(SettingValues values) {
    Duration interval = values.get(HEALTH_INTERVAL);
    if (values.get(HEALTH_TIMEOUT).compareTo(interval) <= 0) {
      throw values.wrong(
          HEALTH_TIMEOUT,
          "more than %s (%s)".formatted(HEALTH_INTERVAL.variable(), Durations.compact(interval)));
    }
    return new SupervisorConfig(
        values.find(NAME).map(String::strip).orElseGet(Machine::name),
        interval,
        values.get(HEALTH_TIMEOUT),
        values.get(BOOT_TIMEOUT),
        values.get(STOP_TIMEOUT),
        values.get(OVERDUE_HANDLER_TIMEOUT),
        new RestartPolicy(
            values.get(RESTART_LIMIT),
            values.get(RESTART_WINDOW),
            values.get(RESTART_LIFETIME_LIMIT),
            values.get(RESTART_RESET),
            values.get(RESTART_DELAY),
            values.get(RESTART_MAX_DELAY)),
        values.getOr(LOGS_FOLDER, () -> values.get(StorageConfig.FOLDER).resolve("logs")),
        values.get(LOG_SIZE));
  }
}
