package dev.holdfast.spring;

import dev.holdfast.JobRetention;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.worker.config.FailureLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of Holdfast in an application of Spring Boot.
 *
 * @param enabled whether anything is configured at all
 * @param migrate whether the schema is created, or brought up to date, when the application starts
 * @param check whether the database and its schema are checked when the application starts
 * @param allowUnsafe whether a server with fsync=off, which can lose acknowledged jobs, is accepted
 * @param allowForeignTransactions whether a job that is enqueued in a transaction of another data
 *     source, which Holdfast cannot join, is durable at once instead of refused
 * @param connections how many connections of the pool Holdfast uses at once, besides two for each
 *     worker
 * @param worker the worker of this application, and defaults for further ones
 * @param workers several workers by name, in place of the one; what a worker does not set it takes
 *     from holdfast.worker
 * @param schedules whether the schedules that the application declares are stored when it starts
 * @param retries how often, and after which delays, jobs are retried that do not say so themselves
 * @param retention how long jobs are kept after they ended
 */
@ConfigurationProperties("holdfast")
public record HoldfastProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("false") boolean migrate,
    @DefaultValue("true") boolean check,
    @DefaultValue("false") boolean allowUnsafe,
    @DefaultValue("false") boolean allowForeignTransactions,
    @DefaultValue("8") int connections,
    @DefaultValue Worker worker,
    @DefaultValue Map<String, Worker> workers,
    @DefaultValue("true") boolean schedules,
    @DefaultValue Retries retries,
    @DefaultValue Retention retention) {

  static final String DEFAULT_WORKER = "default";

  /**
   * One worker.
   *
   * @param enabled whether it runs in this application; true by default
   * @param queues the queues it serves, in turn; "default" by default
   * @param concurrency how many jobs it runs at once; 10 by default
   * @param pollInterval how often it looks for jobs that no notification announced; 1s by default
   * @param shutdownTimeout how long running jobs may take to finish when the application stops; 20s
   *     by default, so that it ends within spring.lifecycle.timeout-per-shutdown-phase
   * @param unknownKindTimeout after how long a job fails for which no live worker has a handler; 5m
   *     by default
   * @param failureLog at which level failed attempts are logged, with message and stack trace; warn
   *     by default
   * @param timings a preset of heartbeat and lease: development, production or high-reliability; a
   *     heartbeat of 10s and a lease of 30s by default
   * @param folder where it keeps scratch folders and artifacts; ".holdfast" by default
   */
  public record Worker(
      @Nullable Boolean enabled,
      @Nullable List<String> queues,
      @Nullable Integer concurrency,
      @Nullable Duration pollInterval,
      @Nullable Duration shutdownTimeout,
      @Nullable Duration unknownKindTimeout,
      @Nullable FailureLog failureLog,
      @Nullable String timings,
      @Nullable Path folder) {

    boolean isEnabled() {
      return enabled == null || enabled;
    }

    List<String> served() {
      return queues == null || queues.isEmpty() ? List.of("default") : queues;
    }

    Timings leases() {
      return timings == null ? Timings.DEFAULT : Timings.preset(timings);
    }

    /** What this one does not say as the other has it. */
    Worker or(Worker other) {
      return new Worker(
          first(enabled, other.enabled),
          first(queues, other.queues),
          first(concurrency, other.concurrency),
          first(pollInterval, other.pollInterval),
          first(shutdownTimeout, other.shutdownTimeout),
          first(unknownKindTimeout, other.unknownKindTimeout),
          first(failureLog, other.failureLog),
          first(timings, other.timings),
          first(folder, other.folder));
    }

    private static <T> @Nullable T first(@Nullable T own, @Nullable T other) {
      return own == null ? other : own;
    }
  }

  /**
   * Retries of all jobs, and of those of a kind or a queue.
   *
   * @param maxAttempts how many attempts may fail, the first included; 3 by default
   * @param delay the longest delay after the first failure; 10s by default
   * @param factor by which the delay grows with each further failure; 12 by default
   * @param maxDelay the longest delay after any failure; 15m by default
   * @param kinds the same for the jobs of a kind, before all others
   * @param queues the same for the jobs of a queue
   */
  public record Retries(
      @Nullable Integer maxAttempts,
      @Nullable Duration delay,
      @Nullable Double factor,
      @Nullable Duration maxDelay,
      @DefaultValue Map<String, RetryOverride> kinds,
      @DefaultValue Map<String, RetryOverride> queues) {

    RetryDefaults defaults() {
      RetryOverride all = new RetryOverride(maxAttempts, delay, factor, maxDelay);
      return new RetryDefaults(all.over(null), each(kinds, all), each(queues, all));
    }

    private static Map<String, RetryDefaults.Retries> each(
        Map<String, RetryOverride> some, RetryOverride all) {
      return some.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().over(all)));
    }
  }

  /**
   * Retries of some jobs.
   *
   * @param maxAttempts how many attempts may fail, the first included
   * @param delay the longest delay after the first failure
   * @param factor by which the delay grows with each further failure
   * @param maxDelay the longest delay after any failure
   */
  public record RetryOverride(
      @Nullable Integer maxAttempts,
      @Nullable Duration delay,
      @Nullable Double factor,
      @Nullable Duration maxDelay) {

    /** A delay that is set in part is completed from what holds for all jobs. */
    RetryDefaults.Retries over(@Nullable RetryOverride all) {
      if (delay == null && factor == null && maxDelay == null) {
        return new RetryDefaults.Retries(maxAttempts, null);
      }
      RetryPolicy base = all == null ? RetryPolicy.DEFAULT : all.policy(RetryPolicy.DEFAULT);
      return new RetryDefaults.Retries(maxAttempts, policy(base));
    }

    private RetryPolicy policy(RetryPolicy base) {
      return new RetryPolicy(
          Objects.requireNonNullElse(delay, base.base()),
          Objects.requireNonNullElse(factor, base.factor()),
          Objects.requireNonNullElse(maxDelay, base.max()));
    }
  }

  /**
   * How long jobs are kept after they ended; for ever where nothing is set.
   *
   * @param succeeded age at which jobs that succeeded are deleted
   * @param failed age at which jobs that failed are deleted
   * @param cancelled age at which jobs that were cancelled are deleted
   */
  public record Retention(
      @Nullable Duration succeeded, @Nullable Duration failed, @Nullable Duration cancelled) {

    JobRetention policy() {
      JobRetention policy = JobRetention.NONE;
      policy = succeeded == null ? policy : policy.keep(JobState.SUCCEEDED, succeeded);
      policy = failed == null ? policy : policy.keep(JobState.FAILED, failed);
      return cancelled == null ? policy : policy.keep(JobState.CANCELLED, cancelled);
    }
  }

  /** The workers of this application by name, whether they are enabled or not. */
  Map<String, Worker> allWorkers() {
    if (workers.isEmpty()) {
      return Map.of(DEFAULT_WORKER, worker);
    }
    Map<String, Worker> all = new LinkedHashMap<>();
    workers.forEach((name, own) -> all.put(name, own.or(worker)));
    return all;
  }
}
