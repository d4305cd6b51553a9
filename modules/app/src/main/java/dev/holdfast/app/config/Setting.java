package dev.holdfast.app.config;

import java.util.Arrays;
import java.util.Optional;

/**
 * Every value that can be configured: in holdfast.yaml by its key, in the environment by its name.
 */
public enum Setting {
  DATABASE_URL(
      "database.url",
      "HOLDFAST_DATABASE_URL",
      "",
      "PostgreSQL to use; without it, the embedded one of the folder"),
  DATABASE_USER("database.user", "HOLDFAST_DATABASE_USER", "", "user, when the URL names none"),
  DATABASE_PASSWORD(
      "database.password", "HOLDFAST_DATABASE_PASSWORD", "", "password, when the URL names none"),
  DATABASE_POOL("database.pool", "HOLDFAST_DATABASE_POOL", "10", "connections per process"),
  ALLOW_UNSAFE_DATABASE(
      "database.allowUnsafe",
      "HOLDFAST_ALLOW_UNSAFE_DATABASE",
      "false",
      "accept a server with fsync=off, which may lose acknowledged jobs"),
  FOLDER(
      "folder",
      "HOLDFAST_FOLDER",
      ".holdfast",
      "where the embedded PostgreSQL, scratch and artifacts lie"),
  DATABASE_PORT(
      "database.port", "HOLDFAST_DATABASE_PORT", "0", "port of the embedded PostgreSQL; 0 is any"),

  QUEUES("worker.queues", "HOLDFAST_QUEUES", "default", "queues a worker serves"),
  MAX_CONCURRENCY("worker.concurrency", "MAX_CONCURRENCY", "10", "jobs at once per worker"),
  POLL_INTERVAL_MS(
      "worker.pollIntervalMs",
      "HOLDFAST_POLL_INTERVAL_MS",
      "1000",
      "how often to look for jobs that no notification announced"),
  SHUTDOWN_TIMEOUT_SEC(
      "worker.shutdownTimeoutSec",
      "SHUTDOWN_TIMEOUT_SEC",
      "30",
      "how long running jobs may take to finish at shutdown"),

  UNKNOWN_KIND_SEC(
      "worker.unknownKindSec",
      "HOLDFAST_UNKNOWN_KIND_SEC",
      "300",
      "how long a job is left alone whose kind no live worker knows, before it fails"),
  WORKER_PROCESSES(
      "worker.processes",
      "HOLDFAST_WORKER_PROCESSES",
      "1",
      "worker processes a queue gets from a supervisor; queues.{queue}.processes wins over it"),
  WORKER_JAVA_OPTIONS(
      "worker.javaOptions",
      "HOLDFAST_WORKER_JAVA_OPTS",
      "",
      "further options of Java for those processes, such as -Xmx512m"),

  SUPERVISOR(
      "supervisor.name",
      "HOLDFAST_SUPERVISOR",
      "",
      "name of this machine's supervisor; the machine's unless given"),
  HEALTH_INTERVAL_SEC(
      "supervisor.healthIntervalSec",
      "HOLDFAST_HEALTH_INTERVAL_SEC",
      "5",
      "how often a supervised worker says how it is doing"),
  HEALTH_TIMEOUT_SEC(
      "supervisor.healthTimeoutSec",
      "HOLDFAST_HEALTH_TIMEOUT_SEC",
      "30",
      "after how long without that it counts as crashed"),
  BOOT_TIMEOUT_SEC(
      "supervisor.bootTimeoutSec",
      "HOLDFAST_BOOT_TIMEOUT_SEC",
      "60",
      "how long it may take to become healthy"),
  STOP_TIMEOUT_SEC(
      "supervisor.stopTimeoutSec",
      "HOLDFAST_STOP_TIMEOUT_SEC",
      "10",
      "how long its running jobs may take when it is stopped"),
  OVERDUE_HANDLER_SEC(
      "supervisor.overdueHandlerSec",
      "HOLDFAST_OVERDUE_HANDLER_SEC",
      "300",
      "how long a handler that was given up may go on before its process is started anew"),
  RESTART_DELAY_SEC(
      "supervisor.restartDelaySec",
      "HOLDFAST_RESTART_DELAY_SEC",
      "1",
      "wait before its first restart; each further one waits twice as long"),
  RESTART_DELAY_MAX_SEC(
      "supervisor.restartDelayMaxSec",
      "HOLDFAST_RESTART_DELAY_MAX_SEC",
      "60",
      "the longest of these waits"),
  RESTART_LIMIT(
      "supervisor.restartLimit",
      "HOLDFAST_RESTART_LIMIT",
      "5",
      "restarts within the window after which it has failed"),
  RESTART_WINDOW_SEC(
      "supervisor.restartWindowSec", "HOLDFAST_RESTART_WINDOW_SEC", "300", "that window"),
  RESTART_LIFETIME_LIMIT(
      "supervisor.restartLifetimeLimit",
      "HOLDFAST_RESTART_LIFETIME_LIMIT",
      "20",
      "restarts in all after which it has failed"),
  RESTART_FORGIVEN_SEC(
      "supervisor.restartForgivenSec",
      "HOLDFAST_RESTART_FORGIVEN_SEC",
      "300",
      "healthy for so long, its restarts count no more"),
  LOGS_FOLDER(
      "supervisor.logsFolder",
      "HOLDFAST_LOGS_FOLDER",
      "",
      "where the output of worker processes goes; 'logs' in the folder unless given"),
  LOG_MEGABYTES(
      "supervisor.logMegabytes", "HOLDFAST_LOG_MEGABYTES", "20", "how much of it is kept for each"),

  TIMINGS(
      "timings.preset",
      "HOLDFAST_TIMINGS",
      "",
      "development, production or high-reliability; the values below win over it"),
  HEARTBEAT_INTERVAL_SEC(
      "timings.heartbeatIntervalSec",
      "HEARTBEAT_INTERVAL_SEC",
      "10",
      "how often leases are extended"),
  LEASE_TIMEOUT_SEC(
      "timings.leaseTimeoutSec",
      "LEASE_TIMEOUT_SEC",
      "",
      "how long a lease lasts unheard; three heartbeats unless given"),
  REAP_GRACE_SEC(
      "timings.reapGraceSec",
      "HOLDFAST_REAP_GRACE_SEC",
      "0",
      "how much longer the reaper waits after a lease ran out"),
  CANCEL_GRACE_SEC(
      "timings.cancelGraceSec",
      "CANCEL_GRACE_SEC",
      "30",
      "how long a cancelled handler may take to stop"),

  HIGH_WATERMARK(
      "backpressure.highWatermark",
      "HIGH_WATERMARK",
      "",
      "waiting jobs above which a busy worker pauses claiming; empty for never"),
  LOAD_THRESHOLD(
      "backpressure.loadThreshold",
      "LOAD_THRESHOLD",
      "0.8",
      "CPU load, 0 to 1, that counts as busy"),
  PAUSE_INTERVAL_SEC(
      "backpressure.pauseIntervalSec", "PAUSE_INTERVAL_SEC", "5", "how long such a pause lasts"),

  SCRATCH_FOLDER(
      "scratch.folder",
      "HOLDFAST_SCRATCH_FOLDER",
      "",
      "where attempts work; 'scratch' in the folder unless given"),
  KEEP_SCRATCH_ON_SUCCESS(
      "scratch.keepOnSuccess",
      "KEEP_SCRATCH_ON_SUCCESS",
      "false",
      "keep what a successful job has worked on"),
  ARTIFACTS_FOLDER(
      "artifacts.folder",
      "HOLDFAST_ARTIFACTS_FOLDER",
      "",
      "holds results/{jobId}/{name}; the folder itself unless given"),

  STEP_MAX_ATTEMPTS(
      "steps.maxAttempts", "STEP_MAX_ATTEMPTS", "3", "attempts of a step before its job is reset"),
  STEP_TIMEOUT_SECONDS(
      "steps.timeoutSeconds", "STEP_TIMEOUT_SECONDS", "900", "how long one of them may take"),
  STEP_IDLE_TIMEOUT_SECONDS(
      "steps.idleTimeoutSeconds",
      "STEP_IDLE_TIMEOUT_SECONDS",
      "300",
      "how long it may give no sign of life"),
  STEP_NO_PROGRESS_LIMIT(
      "steps.noProgressLimit",
      "STEP_NO_PROGRESS_LIMIT",
      "2",
      "so many that fail alike are no progress"),
  JOB_SELF_HEAL_MAX_RESETS(
      "steps.maxResets",
      "JOB_SELF_HEAL_MAX_RESETS",
      "1",
      "hard resets of a job before it goes back to its queue"),
  CACHE_FOLDER(
      "workspace.cacheFolder",
      "HOLDFAST_CACHE_FOLDER",
      "",
      "holds mirrors of repositories; 'cache' in the folder unless given"),
  GIT_TIMEOUT_SECONDS(
      "workspace.gitTimeoutSeconds",
      "HOLDFAST_GIT_TIMEOUT_SECONDS",
      "7200",
      "how long one call of git may take that is not a step's own"),
  PATCH_MEGABYTES(
      "workspace.patchMegabytes",
      "HOLDFAST_PATCH_MEGABYTES",
      "20",
      "how large what one step changes may be; 64 at most"),

  MAX_ATTEMPTS(
      "jobs.maxAttempts",
      "MAX_ATTEMPTS",
      "3",
      "attempts of a job, unless it says so; retries.kinds and retries.queues win over it"),
  RETRY_DELAY(
      "jobs.retryDelay",
      "HOLDFAST_RETRY_DELAY",
      "10s",
      "how long a job waits at most after its first failure; half of it at least"),
  RETRY_FACTOR(
      "jobs.retryFactor", "HOLDFAST_RETRY_FACTOR", "12", "how much longer after each further one"),
  RETRY_LONGEST("jobs.retryLongest", "HOLDFAST_RETRY_LONGEST", "15m", "the longest of these waits"),
  RETAIN_SUCCEEDED(
      "retention.succeeded", "HOLDFAST_RETAIN_SUCCEEDED", "7d", "age at which they are deleted"),
  RETAIN_CANCELLED(
      "retention.cancelled", "HOLDFAST_RETAIN_CANCELLED", "30d", "age at which they are deleted"),
  RETAIN_FAILED(
      "retention.failed", "HOLDFAST_RETAIN_FAILED", "30d", "age at which they are deleted"),

  SERVER_HOST(
      "server.host",
      "HOLDFAST_HOST",
      "127.0.0.1",
      "address the server listens on; beyond loopback it needs API keys"),
  SERVER_PORT("server.port", "HOLDFAST_PORT", "8420", "port it listens on; 0 is any"),
  PUBLIC_URL(
      "server.publicUrl",
      "HOLDFAST_PUBLIC_URL",
      "",
      "where workers reach the server; its own address unless given"),
  ALLOWED_HOSTS(
      "server.allowedHosts",
      "HOLDFAST_ALLOWED_HOSTS",
      "",
      "names the server may be called by, besides its own and that of the public URL"),
  TLS_CERTIFICATE(
      "server.tlsCertificate",
      "HOLDFAST_TLS_CERT",
      "",
      "file with the server's certificates, PEM; with the key, it speaks HTTPS"),
  TLS_KEY("server.tlsKey", "HOLDFAST_TLS_KEY", "", "file with their private key, PEM, PKCS#8"),
  REQUESTS_PER_SECOND(
      "server.requestsPerSecond",
      "HOLDFAST_REQUESTS_PER_SECOND",
      "1000",
      "requests the server takes of each API key; 0 is no limit"),
  HEARTBEAT_INTERVAL_MS(
      "tasks.heartbeatIntervalMs",
      "HEARTBEAT_INTERVAL_MS",
      "30000",
      "how often workers over HTTP are to send heartbeats"),
  HEARTBEAT_TIMEOUT_MS(
      "tasks.heartbeatTimeoutMs",
      "HEARTBEAT_TIMEOUT_MS",
      "90000",
      "after how long without one a task is taken from its worker; at least two intervals"),
  CANCEL_GRACE_PERIOD_MS(
      "tasks.cancelGracePeriodMs",
      "CANCEL_GRACE_PERIOD_MS",
      "30000",
      "how long a cancelled task may take to stop"),
  TOKEN_TTL_SECONDS(
      "tasks.tokenTtlSeconds",
      "TOKEN_TTL_SECONDS",
      "3600",
      "how long a task token is good; 7200 at most"),
  DISPATCH_ALLOW(
      "dispatch.allow",
      "HOLDFAST_DISPATCH_ALLOW",
      "",
      "hosts that tasks may be pushed to, as host or host:port"),
  DISPATCH_TIMEOUT_MS(
      "dispatch.timeoutMs",
      "HOLDFAST_DISPATCH_TIMEOUT_MS",
      "",
      "how long to wait for the answer to a push; 10000 unless given, half of"
          + " tasks.heartbeatTimeoutMs at most"),
  STATSD("metrics.statsd", "HOLDFAST_STATSD", "", "where StatsD listens, as host:port"),

  SERVER_URL(
      "server.url",
      "HOLDFAST_SERVER_URL",
      "",
      "server that commands and workers go through instead of the database"),
  API_KEY("server.apiKey", "HOLDFAST_API_KEY", "", "API key to show that server"),

  LOG_LEVEL("log.level", "HOLDFAST_LOG_LEVEL", "info", "error, warn, info or debug"),
  LOG_FORMAT("log.format", "HOLDFAST_LOG_FORMAT", "text", "text for people, json for programs");

  private final String key;
  private final String variable;
  private final String fallback;
  private final String meaning;

  Setting(String key, String variable, String fallback, String meaning) {
    this.key = key;
    this.variable = variable;
    this.fallback = fallback;
    this.meaning = meaning;
  }

  String key() {
    return key;
  }

  public String variable() {
    return variable;
  }

  String fallback() {
    return fallback;
  }

  String meaning() {
    return meaning;
  }

  boolean isSecret() {
    return this == DATABASE_PASSWORD || this == API_KEY;
  }

  static Optional<Setting> byKey(String key) {
    return Arrays.stream(values()).filter(setting -> setting.key.equals(key)).findFirst();
  }

  static Optional<Setting> byVariable(String variable) {
    return Arrays.stream(values()).filter(setting -> setting.variable.equals(variable)).findFirst();
  }
}
