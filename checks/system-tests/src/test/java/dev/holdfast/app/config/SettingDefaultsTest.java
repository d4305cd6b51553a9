package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.steps.Budgets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names and defaults of all settings. */
class SettingDefaultsTest {
  private static final Settings NONE_GIVEN = Settings.load(Map.of(), Map.of(), null);

  @ParameterizedTest
  @CsvSource({
    "database.url, '', HOLDFAST_DATABASE_URL",
    "database.user, '', HOLDFAST_DATABASE_USER",
    "database.password, '', HOLDFAST_DATABASE_PASSWORD",
    "database.pool, 10, HOLDFAST_DATABASE_POOL",
    "database.allowUnsafe, false, HOLDFAST_DATABASE_ALLOW_UNSAFE",
    "database.port, 0, HOLDFAST_DATABASE_PORT",
    "folder, .holdfast, HOLDFAST_FOLDER",
    "scratch.folder, '', HOLDFAST_SCRATCH_FOLDER",
    "scratch.keepOnSuccess, false, KEEP_SCRATCH_ON_SUCCESS",
    "artifacts.folder, '', HOLDFAST_ARTIFACTS_FOLDER",
    "worker.queues, default, HOLDFAST_WORKER_QUEUES",
    "worker.concurrency, 10, MAX_CONCURRENCY",
    "worker.processes, 1, HOLDFAST_WORKER_PROCESSES",
    "worker.javaOptions, '', HOLDFAST_WORKER_JAVA_OPTIONS",
    "worker.pollInterval, 1s, HOLDFAST_WORKER_POLL_INTERVAL",
    "worker.shutdownTimeout, 30s, SHUTDOWN_TIMEOUT_SEC",
    "worker.unknownKindTimeout, 5m, HOLDFAST_WORKER_UNKNOWN_KIND_TIMEOUT",
    "worker.failureLog, warn, HOLDFAST_WORKER_FAILURE_LOG",
    "timings.preset, '', HOLDFAST_TIMINGS_PRESET",
    "timings.heartbeatInterval, 10s, HEARTBEAT_INTERVAL_SEC",
    "timings.leaseTimeout, '', LEASE_TIMEOUT_SEC",
    "timings.reapGrace, 0s, HOLDFAST_TIMINGS_REAP_GRACE",
    "timings.cancelGrace, 30s, CANCEL_GRACE_SEC",
    "backpressure.highWatermark, '', HIGH_WATERMARK",
    "backpressure.loadThreshold, 0.8, LOAD_THRESHOLD",
    "backpressure.pauseInterval, 5s, PAUSE_INTERVAL_SEC",
    "retries.maxAttempts, 3, MAX_ATTEMPTS",
    "retries.delay, 10s, HOLDFAST_RETRIES_DELAY",
    "retries.factor, 12, HOLDFAST_RETRIES_FACTOR",
    "retries.maxDelay, 15m, HOLDFAST_RETRIES_MAX_DELAY",
    "steps.maxAttempts, 3, STEP_MAX_ATTEMPTS",
    "steps.timeout, 15m, STEP_TIMEOUT_SECONDS",
    "steps.idleTimeout, 5m, STEP_IDLE_TIMEOUT_SECONDS",
    "steps.noProgressLimit, 2, STEP_NO_PROGRESS_LIMIT",
    "steps.maxResets, 1, JOB_SELF_HEAL_MAX_RESETS",
    "workspace.cacheFolder, '', HOLDFAST_WORKSPACE_CACHE_FOLDER",
    "workspace.gitTimeout, 2h, HOLDFAST_WORKSPACE_GIT_TIMEOUT",
    "workspace.patchSize, 20MB, HOLDFAST_WORKSPACE_PATCH_SIZE",
    "retention.succeeded, 7d, HOLDFAST_RETENTION_SUCCEEDED",
    "retention.cancelled, 30d, HOLDFAST_RETENTION_CANCELLED",
    "retention.failed, 30d, HOLDFAST_RETENTION_FAILED",
    "supervisor.name, '', HOLDFAST_SUPERVISOR_NAME",
    "supervisor.healthInterval, 5s, HOLDFAST_SUPERVISOR_HEALTH_INTERVAL",
    "supervisor.healthTimeout, 30s, HOLDFAST_SUPERVISOR_HEALTH_TIMEOUT",
    "supervisor.bootTimeout, 1m, HOLDFAST_SUPERVISOR_BOOT_TIMEOUT",
    "supervisor.stopTimeout, 10s, HOLDFAST_SUPERVISOR_STOP_TIMEOUT",
    "supervisor.overdueHandlerTimeout, 5m, HOLDFAST_SUPERVISOR_OVERDUE_HANDLER_TIMEOUT",
    "supervisor.restartDelay, 1s, HOLDFAST_SUPERVISOR_RESTART_DELAY",
    "supervisor.restartMaxDelay, 1m, HOLDFAST_SUPERVISOR_RESTART_MAX_DELAY",
    "supervisor.restartLimit, 5, HOLDFAST_SUPERVISOR_RESTART_LIMIT",
    "supervisor.restartWindow, 5m, HOLDFAST_SUPERVISOR_RESTART_WINDOW",
    "supervisor.restartLifetimeLimit, 20, HOLDFAST_SUPERVISOR_RESTART_LIFETIME_LIMIT",
    "supervisor.restartReset, 5m, HOLDFAST_SUPERVISOR_RESTART_RESET",
    "supervisor.logsFolder, '', HOLDFAST_SUPERVISOR_LOGS_FOLDER",
    "supervisor.logSize, 20MB, HOLDFAST_SUPERVISOR_LOG_SIZE",
    "server.host, 127.0.0.1, HOLDFAST_SERVER_HOST",
    "server.port, 8420, HOLDFAST_SERVER_PORT",
    "server.publicUrl, '', HOLDFAST_SERVER_PUBLIC_URL",
    "server.allowedHosts, '', HOLDFAST_SERVER_ALLOWED_HOSTS",
    "server.tlsCertificate, '', HOLDFAST_SERVER_TLS_CERTIFICATE",
    "server.tlsKey, '', HOLDFAST_SERVER_TLS_KEY",
    "server.requestsPerSecond, 1000, HOLDFAST_SERVER_REQUESTS_PER_SECOND",
    "tasks.heartbeatInterval, 30s, HEARTBEAT_INTERVAL_MS",
    "tasks.heartbeatTimeout, 90s, HEARTBEAT_TIMEOUT_MS",
    "tasks.cancelGracePeriod, 30s, CANCEL_GRACE_PERIOD_MS",
    "tasks.tokenTtl, 1h, TOKEN_TTL_SECONDS",
    "dispatch.allow, '', HOLDFAST_DISPATCH_ALLOW",
    "dispatch.timeout, '', HOLDFAST_DISPATCH_TIMEOUT",
    "notify.url, '', HOLDFAST_NOTIFY_URL",
    "notify.secret, '', HOLDFAST_NOTIFY_SECRET",
    "metrics.statsd, '', HOLDFAST_METRICS_STATSD",
    "server.url, '', HOLDFAST_SERVER_URL",
    "server.apiKey, '', HOLDFAST_SERVER_API_KEY",
    "log.level, info, HOLDFAST_LOG_LEVEL",
    "log.format, text, HOLDFAST_LOG_FORMAT"
  })
  void the_default_is(String key, String value, String variable) {
    Setting setting =
        Settings.all().filter(each -> each.key().equals(key)).findFirst().orElseThrow();
    assertThat(setting.variable()).isEqualTo(variable);
    assertThat(setting.defaultText()).isEqualTo(value);
    assertThat(NONE_GIVEN.value(key)).isEqualTo(new SettingValues.Value(value, "default"));
  }

  @Test
  void every_setting_is_in_the_table_of_defaults() throws NoSuchMethodException {
    CsvSource pinned =
        SettingDefaultsTest.class
            .getDeclaredMethod("the_default_is", String.class, String.class, String.class)
            .getAnnotation(CsvSource.class);
    assertThat(pinned.value()).hasSize((int) Settings.all().count());
    assertThat(Settings.all().map(Setting::key).toList()).doesNotHaveDuplicates();
    assertThat(Settings.all().map(Setting::variable).toList()).doesNotHaveDuplicates();
  }

  @Test
  void the_defaults_are_valid_and_those_of_the_library() {
    assertThat(NONE_GIVEN.problems()).isEmpty();
    assertThat(NONE_GIVEN.timings()).isEqualTo(Timings.DEFAULT);
    assertThat(NONE_GIVEN.retries())
        .isEqualTo(RetryDefaults.of(new Retries(3, RetryPolicy.DEFAULT)));
    assertThat(NONE_GIVEN.steps().budgets()).isEqualTo(Budgets.DEFAULT);
    assertThat(NONE_GIVEN.worker())
        .isEqualTo(
            new WorkerConfig(
                List.of("default"),
                WorkerOptions.DEFAULT_CONCURRENCY,
                1,
                "",
                WorkerOptions.DEFAULT_POLL,
                WorkerOptions.DEFAULT_SHUTDOWN_TIMEOUT,
                WorkerOptions.DEFAULT_UNKNOWN_KINDS,
                WorkerOptions.DEFAULT_FAILURE_LOG));
    assertThat(NONE_GIVEN.backpressure())
        .isEqualTo(
            new BackpressureConfig(
                null,
                Backpressure.Settings.OFF.loadThreshold(),
                Backpressure.Settings.OFF.pause()));
    assertThat(NONE_GIVEN.server().timings()).isEqualTo(ServerOptions.DEFAULT.timings());
    assertThat(NONE_GIVEN.server().tokens()).isEqualTo(ServerOptions.DEFAULT.tokens());
  }
}
