package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A job to be enqueued: {@code Job.of("send-mail", mail).queue("mail").delay(ofMinutes(5))}.
 *
 * <p>Immutable: each setter returns a new job and checks its value at once. The id is chosen here,
 * so that enqueueing the same {@code Job} twice creates one job.
 */
public final class Job implements Cloneable {
  public static final String DEFAULT_QUEUE = "default";
  public static final String DEFAULT_OWNER = "default";
  public static final int DEFAULT_PRIORITY = 5;
  public static final int DEFAULT_MAX_ATTEMPTS = 3;
  public static final int DEFAULT_MAX_CRASHES = 2;

  private final String kind;
  private final Object payload;
  private JobId id = JobId.next();
  private String queue = DEFAULT_QUEUE;
  private int priority = DEFAULT_PRIORITY;
  private Duration delay = Duration.ZERO;
  private @Nullable Instant runAt;
  private @Nullable Integer maxAttempts;
  private int maxCrashes = DEFAULT_MAX_CRASHES;
  private @Nullable Duration timeout;
  private @Nullable Instant deadline;
  private String tenant = DEFAULT_OWNER;
  private String workspace = DEFAULT_OWNER;
  private @Nullable JobId run;
  private @Nullable String runKey;
  private @Nullable JobId parent;
  private Set<JobId> dependsOn = Set.of();
  private WhenDependencyFails whenDependencyFails = WhenDependencyFails.CANCEL;
  private @Nullable Unique unique;
  private @Nullable String concurrencyKey;
  private int concurrencyLimit = 1;
  private @Nullable String assetId;
  private @Nullable String partitionKey;
  private @Nullable Object resources;
  private @Nullable String traceparent;

  private Job(String kind, Object payload) {
    this.kind = Limits.kind(kind);
    this.payload = payload;
  }

  /** The payload is a record, or anything else the codec can turn into JSON. */
  public static Job of(String kind, Object payload) {
    return new Job(kind, payload);
  }

  public static Job of(String kind) {
    return new Job(kind, Json.EMPTY);
  }

  public Job id(JobId value) {
    Job job = copy();
    job.id = value;
    return job;
  }

  public Job queue(String value) {
    Job job = copy();
    job.queue = Limits.queue(value);
    return job;
  }

  /** From 0, first, to 9, last. */
  public Job priority(int value) {
    if (value < 0 || value > 9) {
      throw new RefusedException(
          Refusal.BAD_PRIORITY,
          "priority " + value + " must lie between 0 (first) and 9 (last); the default is 5");
    }
    Job job = copy();
    job.priority = value;
    return job;
  }

  /** Not before this much time has passed on the database's clock. */
  public Job delay(Duration value) {
    Job job = copy();
    job.delay = Limits.delay("delay", value);
    job.runAt = null;
    return job;
  }

  /** Not before this moment. */
  public Job runAt(Instant value) {
    Job job = copy();
    job.runAt = moment("runAt", value, Refusal.BAD_DELAY);
    job.delay = Duration.ZERO;
    return job;
  }

  /**
   * How many attempts may fail, the first included. Without it, the process that writes the job
   * decides by {@link RetryDefaults}.
   */
  public Job maxAttempts(int value) {
    Job job = copy();
    job.maxAttempts = checkMaxAttempts(value);
    return job;
  }

  static int checkMaxAttempts(int value) {
    return within("maxAttempts", value, 1, 1_000, Refusal.BAD_BUDGET);
  }

  /** How often the job is put back after its worker died under it. */
  public Job maxCrashes(int value) {
    Job job = copy();
    job.maxCrashes = within("maxCrashes", value, 0, 1_000, Refusal.BAD_BUDGET);
    return job;
  }

  /** How long one attempt may take. */
  public Job timeout(Duration value) {
    if (value.toDays() > 365 || value.compareTo(Duration.ofMillis(1)) < 0) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "timeout " + value + " must be a millisecond or more, and a year at most");
    }
    Job job = copy();
    job.timeout = value;
    return job;
  }

  /** When the job is of no use any more, whether it has started or not. */
  public Job deadline(Instant value) {
    Job job = copy();
    job.deadline = moment("deadline", value, Refusal.BAD_TIMING);
    return job;
  }

  public Job owner(String newTenant, String newWorkspace) {
    Job job = copy();
    job.tenant = Limits.word("tenant", newTenant);
    job.workspace = Limits.word("workspace", newWorkspace);
    return job;
  }

  /** Makes the job part of a run, under a key of its own there. */
  public Job run(JobId newRun, String key) {
    Job job = copy();
    job.run = newRun;
    job.runKey = Limits.key("runKey", key);
    return job;
  }

  public Job parent(JobId value) {
    Job job = copy();
    job.parent = value;
    return job;
  }

  /** Waits until these have ended; what happens if one of them fails is for you to say. */
  public Job dependsOn(JobId... jobs) {
    return dependsOn(List.of(jobs), WhenDependencyFails.CANCEL);
  }

  public Job dependsOn(Collection<JobId> jobs, WhenDependencyFails policy) {
    if (jobs.contains(id) || jobs.size() > Limits.DEPENDENCIES) {
      throw new RefusedException(
          Refusal.BAD_DEPENDENCY,
          "a job may depend on up to %,d others, and not on itself".formatted(Limits.DEPENDENCIES));
    }
    Job job = copy();
    job.dependsOn = Set.copyOf(jobs);
    job.whenDependencyFails = policy;
    return job;
  }

  public Job unique(Unique value) {
    Job job = copy();
    job.unique = value;
    return job;
  }

  public Job uniqueKey(String key) {
    return unique(Unique.by(key));
  }

  /**
   * At most {@code limit} jobs of this queue and tenant with this key run at once, over all
   * workers.
   */
  public Job concurrencyKey(String key, int limit) {
    Job job = copy();
    job.concurrencyKey = Limits.key("concurrencyKey", key);
    job.concurrencyLimit = within("concurrency limit", limit, 1, 100_000, Refusal.BAD_LIMIT);
    return job;
  }

  /** What the job makes, where that has a name of its own; for its worker to know. */
  public Job assetId(String value) {
    Job job = copy();
    job.assetId = Limits.key("assetId", value);
    return job;
  }

  /**
   * Which part of the asset the job makes; passed to its worker. To run jobs of one key one after
   * another, use {@link #concurrencyKey}.
   */
  public Job partitionKey(String value) {
    Job job = copy();
    job.partitionKey = Limits.key("partitionKey", value);
    return job;
  }

  /** What the job needs; a map, a record, or anything else that the codec makes an object of. */
  public Job resources(Object value) {
    Job job = copy();
    job.resources = value;
    return job;
  }

  /** The trace that the job belongs to, as W3C Trace Context writes it. */
  public Job traceparent(String value) {
    Job job = copy();
    job.traceparent = Traceparent.checked(value);
    return job;
  }

  public JobId id() {
    return id;
  }

  public String kind() {
    return kind;
  }

  public Object payload() {
    return payload;
  }

  public String queue() {
    return queue;
  }

  public int priority() {
    return priority;
  }

  public Duration delay() {
    return delay;
  }

  public @Nullable Instant runAt() {
    return runAt;
  }

  /** Null when the job does not say. */
  public @Nullable Integer maxAttempts() {
    return maxAttempts;
  }

  public int maxCrashes() {
    return maxCrashes;
  }

  public @Nullable Duration timeout() {
    return timeout;
  }

  public @Nullable Instant deadline() {
    return deadline;
  }

  public String tenant() {
    return tenant;
  }

  public String workspace() {
    return workspace;
  }

  /** A job alone is its own run. */
  public JobId run() {
    return run == null ? id : run;
  }

  public String runKey() {
    return runKey == null ? kind : runKey;
  }

  public @Nullable JobId parent() {
    return parent;
  }

  public Set<JobId> dependsOn() {
    return dependsOn;
  }

  public WhenDependencyFails whenDependencyFails() {
    return whenDependencyFails;
  }

  public @Nullable Unique unique() {
    return unique;
  }

  public @Nullable String concurrencyKey() {
    return concurrencyKey;
  }

  public int concurrencyLimit() {
    return concurrencyLimit;
  }

  public @Nullable String assetId() {
    return assetId;
  }

  public @Nullable String partitionKey() {
    return partitionKey;
  }

  public @Nullable Object resources() {
    return resources;
  }

  public @Nullable String traceparent() {
    return traceparent;
  }

  /** Whether it brings something along for its worker besides the payload. */
  public boolean hasAttributes() {
    return assetId != null || partitionKey != null || resources != null || traceparent != null;
  }

  private static int within(String what, int value, int min, int max, Refusal refusal) {
    if (value < min || value > max) {
      throw new RefusedException(
          refusal, "%s %,d must lie between %d and %,d".formatted(what, value, min, max));
    }
    return value;
  }

  private static Instant moment(String what, Instant value, Refusal refusal) {
    // PostgreSQL and Java have different largest and smallest times.
    if (value.isBefore(Instant.EPOCH) || value.getEpochSecond() > 253_402_300_799L) {
      throw new RefusedException(
          refusal, what + " " + value + " must lie between the years 1970 and 9999");
    }
    return value;
  }

  private Job copy() {
    try {
      return (Job) super.clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
