package dev.holdfast.model.job;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.JobLimits;
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
  /** The queue of a job that names none. */
  public static final String DEFAULT_QUEUE = "default";

  /** Tenant and workspace of a job that names none. */
  public static final String DEFAULT_OWNER = "default";

  /** In the middle: 0 is claimed first, 9 last. */
  public static final int DEFAULT_PRIORITY = 5;

  public static final int DEFAULT_MAX_ATTEMPTS = 3;
  public static final int DEFAULT_MAX_CRASHES = 2;

  private final String kind;
  private Object payload;
  private JobId id = JobId.next();
  private @Nullable String queue;
  private @Nullable Integer priority;
  private Duration delay = Duration.ZERO;
  private @Nullable Instant runAt;
  private @Nullable Integer maxAttempts;
  private @Nullable Integer maxCrashes;
  private @Nullable Duration timeout;
  private @Nullable Instant deadline;
  private String tenant = DEFAULT_OWNER;
  private String workspace = DEFAULT_OWNER;
  private @Nullable JobId run;
  private @Nullable String runKey;
  private @Nullable JobId parent;
  private @Nullable String startedAs;
  private Set<JobId> dependsOn = Set.of();
  private WhenDependencyFails whenDependencyFails = WhenDependencyFails.CANCEL;
  private @Nullable Unique unique;
  private @Nullable String concurrencyKey;
  private int concurrencyLimit = 1;
  private @Nullable String assetId;
  private @Nullable String partitionKey;
  private @Nullable Object resources;
  private @Nullable String traceparent;
  private List<String> tags = List.of();

  private Job(String kind, Object payload) {
    this.kind = Limits.kind(kind);
    this.payload = payload;
  }

  /** The payload is a record, or anything else the codec can turn into JSON. */
  public static Job of(String kind, Object payload) {
    return new Job(kind, payload);
  }

  /** With an empty object as its payload. */
  public static Job of(String kind) {
    return new Job(kind, Json.EMPTY);
  }

  /** An id of your own, in place of the one that was chosen. */
  public Job id(JobId value) {
    Job job = copy();
    job.id = value;
    return job;
  }

  /** The queue it waits in; which need not exist. */
  public Job queue(String value) {
    Job job = copy();
    job.queue = Limits.queue(value);
    return job;
  }

  /** From 0, first, to 9, last. */
  public Job priority(int value) {
    Job job = copy();
    job.priority = JobLimits.priority(value);
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
    job.runAt = JobLimits.runAt(value);
    job.delay = Duration.ZERO;
    return job;
  }

  /**
   * How many attempts may fail, the first included. Without it, the process that writes the job
   * decides by {@link RetryDefaults}.
   */
  public Job maxAttempts(int value) {
    Job job = copy();
    job.maxAttempts = JobLimits.maxAttempts(value);
    return job;
  }

  /** How often the job is requeued after a crash of its worker. */
  public Job maxCrashes(int value) {
    Job job = copy();
    job.maxCrashes = JobLimits.maxCrashes(value);
    return job;
  }

  /** How long one attempt may take. */
  public Job timeout(Duration value) {
    Job job = copy();
    job.timeout = JobLimits.timeout(value);
    return job;
  }

  /** When the job is of no use any more, whether it has started or not. */
  public Job deadline(Instant value) {
    Job job = copy();
    job.deadline = JobLimits.deadline(value);
    return job;
  }

  /** Whom it belongs to: keys are per tenant. */
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

  /** A cancel of the parent with cascade includes this job. */
  public Job parent(JobId value) {
    Job job = copy();
    job.parent = value;
    return job;
  }

  /**
   * The job with payload and resources as JSON.
   *
   * <p>For the modules of Holdfast; it may change in any release.
   */
  public Job encoded(Codec codec) {
    Job job = copy();
    job.payload = codec.encode(payload);
    job.resources = resources == null ? null : codec.encode(resources);
    return job;
  }

  /**
   * The job as a child that the handler of another one starts.
   *
   * <p>For the modules of Holdfast; it may change in any release.
   *
   * @param as the id under which the parent waits for it
   */
  public Job startedBy(JobId newParent, String as) {
    Job job = parent(newParent);
    job.startedAs = Limits.stepId(as);
    return job;
  }

  /** Waits until these have ended; what happens if one of them fails is for you to say. */
  public Job dependsOn(JobId... jobs) {
    return dependsOn(List.of(jobs), WhenDependencyFails.CANCEL);
  }

  /** Waits until these have ended; the policy says what becomes of it if one of them fails. */
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

  /** At most one job of a kind and tenant holds a key, in the states and for the time given. */
  public Job unique(Unique value) {
    Job job = copy();
    job.unique = value;
    return job;
  }

  /** At most one unfinished job of a kind and tenant holds this key. */
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
    job.concurrencyLimit = JobLimits.concurrencyLimit(limit);
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

  /**
   * Words by which the job is found later, such as {@code customer:42}: up to {@value Limits#TAGS},
   * without order and in place of those given before.
   */
  public Job tags(String... values) {
    return tags(List.of(values));
  }

  /** The same. */
  public Job tags(Collection<String> values) {
    Job job = copy();
    job.tags = Limits.tags(values);
    return job;
  }

  /** The job, with values for what it does not say itself. */
  public Job or(JobDefaults defaults) {
    Job job = copy();
    job.queue = queue == null ? defaults.queue() : queue;
    job.priority = priority == null ? defaults.priority() : priority;
    job.maxAttempts = maxAttempts == null ? defaults.maxAttempts() : maxAttempts;
    job.maxCrashes = maxCrashes == null ? defaults.maxCrashes() : maxCrashes;
    job.timeout = timeout == null ? defaults.timeout() : timeout;
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
    return queue == null ? DEFAULT_QUEUE : queue;
  }

  /** Null when the job does not say. */
  public @Nullable String ownQueue() {
    return queue;
  }

  /** Null when the job does not say. */
  public @Nullable Integer ownPriority() {
    return priority;
  }

  public int priority() {
    return priority == null ? DEFAULT_PRIORITY : priority;
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
    return maxCrashes == null ? DEFAULT_MAX_CRASHES : maxCrashes;
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

  /** The id under which the handler of its parent has started it; null for all others. */
  public @Nullable String startedAs() {
    return startedAs;
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

  /** Sorted, each once. */
  public List<String> tags() {
    return tags;
  }

  /** Whether it brings something along for its worker besides the payload. */
  public boolean hasAttributes() {
    return assetId != null
        || partitionKey != null
        || resources != null
        || traceparent != null
        || !tags.isEmpty();
  }

  private Job copy() {
    try {
      return (Job) super.clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
