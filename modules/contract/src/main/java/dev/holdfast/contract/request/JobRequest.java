package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A job to enqueue. Fields that are absent have the defaults of the library. */
public record JobRequest(
    @Nullable JobId id,
    String kind,
    @Nullable Json payload,
    @Nullable String queue,
    @Nullable Integer priority,
    @Nullable Long delayMs,
    @Nullable Instant runAt,
    @Nullable Integer maxAttempts,
    @Nullable Integer maxCrashes,
    @Nullable Long timeoutMs,
    @Nullable Instant deadline,
    @Nullable String tenant,
    @Nullable String workspace,
    @Nullable JobId runId,
    @Nullable String runKey,
    @Nullable JobId parentId,
    @Nullable List<JobId> dependsOn,
    @Nullable WhenDependencyFails whenDependencyFails,
    @Nullable String uniqueKey,
    @Nullable Set<JobState> uniqueStates,
    @Nullable Long uniqueWindowMs,
    @Nullable String concurrencyKey,
    @Nullable Integer concurrencyLimit,
    @Nullable String assetId,
    @Nullable String partitionKey,
    @Nullable Json resources,
    @Nullable String traceparent,
    @Nullable List<String> tags) {
  public JobRequest {
    Wire.present("kind", kind);
    dependsOn = dependsOn == null ? null : List.copyOf(dependsOn);
    tags = tags == null ? null : List.copyOf(tags);
    uniqueStates = uniqueStates == null ? null : Set.copyOf(uniqueStates);
    if (delayMs != null && runAt != null) {
      throw Fields.wrong("runAt", "and 'delayMs' cannot both be given");
    }
    if (dependsOn == null) {
      useless("whenDependencyFails", whenDependencyFails, "dependsOn");
    }
    if (uniqueKey == null) {
      useless("uniqueStates", uniqueStates, "uniqueKey");
      useless("uniqueWindowMs", uniqueWindowMs, "uniqueKey");
    }
    if (concurrencyKey == null) {
      useless("concurrencyLimit", concurrencyLimit, "concurrencyKey");
    }
  }

  private static void useless(String field, @Nullable Object value, String without) {
    if (value != null) {
      throw Fields.wrong(field, "needs '" + without + "'");
    }
  }

  /** The job to enqueue; without an id it gets one now. */
  public Job job(String tenantUnlessGiven) {
    Job job = Job.of(kind, payload == null ? Json.EMPTY : payload);
    job = id == null ? job : job.id(id);
    job = queue == null ? job : job.queue(queue);
    job = priority == null ? job : job.priority(priority);
    job =
        job.owner(
            tenant == null ? tenantUnlessGiven : tenant,
            workspace == null ? Job.DEFAULT_OWNER : workspace);
    return related(limited(timed(attributed(job))));
  }

  private Job attributed(Job given) {
    Job job = assetId == null ? given : given.assetId(assetId);
    job = partitionKey == null ? job : job.partitionKey(partitionKey);
    job = resources == null ? job : job.resources(resources);
    job = tags == null ? job : job.tags(tags);
    return traceparent == null ? job : job.traceparent(traceparent);
  }

  /** For comparing requests: one that is sent again may be part of another trace. */
  public JobRequest withoutTraceparent() {
    return traceparent == null
        ? this
        : new JobRequest(
            id,
            kind,
            payload,
            queue,
            priority,
            delayMs,
            runAt,
            maxAttempts,
            maxCrashes,
            timeoutMs,
            deadline,
            tenant,
            workspace,
            runId,
            runKey,
            parentId,
            dependsOn,
            whenDependencyFails,
            uniqueKey,
            uniqueStates,
            uniqueWindowMs,
            concurrencyKey,
            concurrencyLimit,
            assetId,
            partitionKey,
            resources,
            null,
            tags);
  }

  private Job timed(Job given) {
    Job job = delayMs == null ? given : given.delay(Duration.ofMillis(delayMs));
    job = runAt == null ? job : job.runAt(runAt);
    job = timeoutMs == null ? job : job.timeout(Duration.ofMillis(timeoutMs));
    return deadline == null ? job : job.deadline(deadline);
  }

  private Job limited(Job given) {
    Job job = maxAttempts == null ? given : given.maxAttempts(maxAttempts);
    job = maxCrashes == null ? job : job.maxCrashes(maxCrashes);
    if (uniqueKey != null) {
      Unique unique = Unique.by(uniqueKey);
      unique = uniqueStates == null ? unique : unique.in(uniqueStates);
      job =
          job.unique(
              uniqueWindowMs == null ? unique : unique.within(Duration.ofMillis(uniqueWindowMs)));
    }
    return concurrencyKey == null
        ? job
        : job.concurrencyKey(concurrencyKey, concurrencyLimit == null ? 1 : concurrencyLimit);
  }

  private Job related(Job given) {
    Job job = parentId == null ? given : given.parent(parentId);
    if (runId != null || runKey != null) {
      job = job.run(runId == null ? job.id() : runId, runKey == null ? kind : runKey);
    }
    return dependsOn == null
        ? job
        : job.dependsOn(
            dependsOn,
            whenDependencyFails == null ? WhenDependencyFails.CANCEL : whenDependencyFails);
  }
}
