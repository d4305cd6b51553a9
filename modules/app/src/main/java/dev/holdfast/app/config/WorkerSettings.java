package dev.holdfast.app.config;

import dev.holdfast.JobRetention;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.config.LoadSource;
import dev.holdfast.worker.config.WorkerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What the settings say about a worker. A value it would refuse is a wrong setting here. */
public final class WorkerSettings {
  /** One for each value, or for those that belong together: so all that is wrong can be told. */
  public static final List<Consumer<Settings>> CHECKS =
      List.of(
          WorkerSettings::timings,
          WorkerSettings::backpressure,
          WorkerSettings::budgets,
          WorkerSettings::gitTimeout,
          WorkerSettings::patchBytes,
          settings -> settings.flag(Setting.KEEP_SCRATCH_ON_SUCCESS),
          refused(settings -> WorkerOptions.checkQueues(settings.list(Setting.QUEUES))),
          refused(
              settings -> WorkerOptions.checkConcurrency(settings.whole(Setting.MAX_CONCURRENCY))),
          refused(settings -> WorkerOptions.checkPoll(poll(settings))),
          refused(
              settings ->
                  WorkerOptions.checkShutdownTimeout(
                      settings.seconds(Setting.SHUTDOWN_TIMEOUT_SEC))),
          refused(
              settings ->
                  WorkerOptions.checkUnknownKinds(settings.seconds(Setting.UNKNOWN_KIND_SEC))));

  private static final int MEGABYTE = 1 << 20;

  private WorkerSettings() {}

  /** Before anything starts. */
  public static void check(Settings settings) {
    CHECKS.forEach(check -> check.accept(settings));
  }

  private static Consumer<Settings> refused(Consumer<Settings> check) {
    return settings -> {
      try {
        check.accept(settings);
      } catch (RefusedException wrong) {
        throw wrong(wrong);
      }
    };
  }

  public static CommandException wrong(RefusedException wrong) {
    return new CommandException(ExitCode.CONFIGURATION, String.valueOf(wrong.getMessage()));
  }

  public static Duration poll(Settings settings) {
    return Duration.ofMillis(settings.whole(Setting.POLL_INTERVAL_MS));
  }

  public static Scratch scratch(Settings settings) {
    return new Scratch(
        settings.folder(Setting.SCRATCH_FOLDER, "scratch"),
        settings.flag(Setting.KEEP_SCRATCH_ON_SUCCESS));
  }

  public static FolderStore artifacts(Settings settings) {
    return new FolderStore(settings.folder(Setting.ARTIFACTS_FOLDER, ""));
  }

  public static JobRetention retention(Settings settings) {
    return JobRetention.NONE
        .keep(JobState.SUCCEEDED, settings.duration(Setting.RETAIN_SUCCEEDED))
        .keep(JobState.CANCELLED, settings.duration(Setting.RETAIN_CANCELLED))
        .keep(JobState.FAILED, settings.duration(Setting.RETAIN_FAILED));
  }

  public static Timings timings(Settings settings) {
    try {
      return timingsOf(settings);
    } catch (RefusedException wrong) {
      throw wrong(wrong);
    }
  }

  private static Timings timingsOf(Settings settings) {
    Duration heartbeat = settings.seconds(Setting.HEARTBEAT_INTERVAL_SEC);
    return new Timings(
        heartbeat,
        settings.isGiven(Setting.LEASE_TIMEOUT_SEC)
            ? settings.seconds(Setting.LEASE_TIMEOUT_SEC)
            : Timings.leaseFor(heartbeat),
        settings.seconds(Setting.REAP_GRACE_SEC),
        settings.seconds(Setting.CANCEL_GRACE_SEC));
  }

  public static Backpressure.Settings backpressure(Settings settings) {
    try {
      return new Backpressure.Settings(
          settings.isGiven(Setting.HIGH_WATERMARK)
              ? Long.valueOf(settings.whole(Setting.HIGH_WATERMARK))
              : null,
          settings.number(Setting.LOAD_THRESHOLD),
          settings.seconds(Setting.PAUSE_INTERVAL_SEC),
          LoadSource.ofThisMachine());
    } catch (RefusedException wrong) {
      throw wrong(wrong);
    }
  }

  public static Healing healing(Settings settings) {
    List<String> secrets = new ArrayList<>();
    settings.runtimes().forEach(runtime -> secrets.addAll(runtime.secretValues(System::getenv)));
    for (Setting setting : Setting.values()) {
      if (setting.isSecret() && settings.isGiven(setting)) {
        secrets.add(settings.text(setting));
      }
    }
    return new Healing(budgets(settings), Scrubber.knowing(secrets));
  }

  public static Duration gitTimeout(Settings settings) {
    return Duration.ofSeconds(
        settings.within(Setting.GIT_TIMEOUT_SECONDS, 1, (int) Duration.ofDays(7).toSeconds()));
  }

  public static int patchBytes(Settings settings) {
    return settings.within(Setting.PATCH_MEGABYTES, 1, Limits.PATCH_BYTES / MEGABYTE) * MEGABYTE;
  }

  private static Budgets budgets(Settings settings) {
    try {
      return new Budgets(
          settings.whole(Setting.STEP_MAX_ATTEMPTS),
          settings.seconds(Setting.STEP_TIMEOUT_SECONDS),
          settings.seconds(Setting.STEP_IDLE_TIMEOUT_SECONDS),
          settings.whole(Setting.STEP_NO_PROGRESS_LIMIT),
          settings.whole(Setting.JOB_SELF_HEAL_MAX_RESETS));
    } catch (RefusedException wrong) {
      throw wrong(wrong);
    }
  }
}
