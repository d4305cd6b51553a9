package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A job, without its timeline.
 *
 * @param payload absent where it was not read
 * @param result absent where it was not read, null where there is none
 * @param omitted which fields the job has and this resource has not; absent where there are none
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record JobResource(
    JobId id,
    String kind,
    String queue,
    JobState state,
    int priority,
    int attempt,
    int failures,
    int maxAttempts,
    int crashes,
    int maxCrashes,
    @Nullable Integer progress,
    @Nullable String progressMessage,
    @Nullable String workerId,
    Instant createdAt,
    Instant runAt,
    @Nullable Instant startedAt,
    @Nullable Instant heartbeatAt,
    @Nullable Instant leaseExpiresAt,
    @Nullable Instant finishedAt,
    @Nullable Instant deadline,
    @Nullable Instant cancelRequestedAt,
    @Nullable String cancelReason,
    String tenant,
    String workspace,
    JobId runId,
    String runKey,
    @Nullable JobId parentId,
    @Nullable String uniqueKey,
    @Nullable String concurrencyKey,
    @Nullable String assetId,
    @Nullable String partitionKey,
    @Nullable String traceparent,
    List<String> tags,
    @Nullable JsonNode resources,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable JsonNode payload,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable JsonNode result,
    @Nullable FailureResource failure,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> omitted) {
  public JobResource {
    Wire.present("id", id);
    Wire.present("kind", kind);
    Wire.present("queue", queue);
    Wire.present("state", state);
    Wire.present("createdAt", createdAt);
    Wire.present("runAt", runAt);
    Wire.present("tenant", tenant);
    Wire.present("workspace", workspace);
    Wire.present("runId", runId);
    Wire.present("runKey", runKey);
    tags = tags == null ? List.of() : List.copyOf(tags);
    omitted = omitted == null ? null : List.copyOf(omitted);
  }

  public static JobResource of(JobStatus job) {
    List<String> omitted = job.omitted();
    return of(
        job,
        omitted.contains(JobStatus.RESULT) ? null : Wire.treeOrNullNode(job.result()),
        omitted.isEmpty() ? null : omitted);
  }

  /** As one of many: without its result, and without the names of the fields that are left out. */
  public static JobResource brief(JobStatus job) {
    return of(job, null, null);
  }

  private static JobResource of(
      JobStatus job, @Nullable JsonNode result, @Nullable List<String> omitted) {
    JobAttributes attributes = job.attributes();
    return new JobResource(
        job.id(),
        job.kind(),
        job.queue(),
        job.state(),
        job.priority(),
        job.attempt(),
        job.failures(),
        job.maxAttempts(),
        job.crashes(),
        job.maxCrashes(),
        job.progress(),
        job.progressMessage(),
        job.worker(),
        job.createdAt(),
        job.runAt(),
        job.startedAt(),
        job.heartbeatAt(),
        job.leaseExpiresAt(),
        job.finishedAt(),
        job.deadline(),
        job.cancelRequestedAt(),
        job.cancelReason(),
        job.tenant(),
        job.workspace(),
        job.run(),
        job.runKey(),
        job.parent(),
        job.uniqueKey(),
        job.concurrencyKey(),
        attributes.assetId(),
        attributes.partitionKey(),
        attributes.traceparent(),
        attributes.tags(),
        Wire.treeOrNullNode(attributes.resources()),
        job.omitted().contains(JobStatus.PAYLOAD) ? null : Wire.treeOrNullNode(job.payload()),
        result,
        FailureResource.of(job.failure(), job.omitted().contains(JobStatus.STACK_TRACE)),
        omitted);
  }

  public JobStatus status() {
    Json needs = Wire.json(resources);
    return new JobStatus(
        id,
        kind,
        queue,
        state,
        priority,
        new Json(payload == null ? "null" : payload.toString()),
        Wire.json(result),
        FailureResource.failure(failure),
        attempt,
        failures,
        maxAttempts,
        crashes,
        maxCrashes,
        progress,
        progressMessage,
        workerId,
        heartbeatAt,
        leaseExpiresAt,
        createdAt,
        runAt,
        startedAt,
        finishedAt,
        cancelRequestedAt,
        cancelReason,
        deadline,
        tenant,
        workspace,
        runId,
        runKey,
        parentId,
        uniqueKey,
        concurrencyKey,
        new JobAttributes(
            assetId, partitionKey, needs == null ? Json.EMPTY : needs, traceparent, tags),
        omitted == null ? List.of() : omitted);
  }

  /**
   * One page of a list.
   *
   * @param next the cursor of the next page; absent on the last one
   * @param searchComplete false where a search stopped before the oldest job; absent where nothing
   *     was searched for
   */
  public record Page(
      List<JobResource> jobs, @Nullable JobCursor next, @Nullable Boolean searchComplete) {
    public Page {
      jobs = List.copyOf(Wire.present("jobs", jobs));
    }

    public JobPage page() {
      return new JobPage(
          jobs.stream().map(JobResource::status).toList(),
          next,
          searchComplete == null || searchComplete);
    }

    /**
     * @param searched whether the list was searched for a text
     */
    public static Page of(JobPage page, boolean brief, boolean searched) {
      return new Page(
          page.jobs().stream().map(brief ? JobResource::brief : JobResource::of).toList(),
          page.next(),
          (searched || !page.searchComplete()) ? Boolean.valueOf(page.searchComplete()) : null);
    }
  }

  /**
   * One job with what was asked for besides; what was not is absent.
   *
   * @param liveControl the commands that its worker has not executed yet; absent without any
   */
  public record Detail(
      @JsonUnwrapped @Nullable JobResource job,
      @Nullable PendingCommandResource liveControl,
      @Nullable List<EventResource> events,
      @Nullable List<AttemptResource> attempts,
      @Nullable List<StepResource> steps,
      @Nullable List<ArtifactResource> artifacts,
      @Nullable JobDependencies dependencies) {
    public static Detail of(JobDetail detail, Set<JobDetail.Part> parts) {
      PendingCommand pending = detail.pending();
      return new Detail(
          JobResource.of(detail.job()),
          pending.equals(PendingCommand.NONE) ? null : PendingCommandResource.of(pending),
          parts.contains(JobDetail.Part.EVENTS)
              ? detail.events().stream().map(EventResource::of).toList()
              : null,
          parts.contains(JobDetail.Part.ATTEMPTS)
              ? detail.attempts().stream().map(AttemptResource::of).toList()
              : null,
          parts.contains(JobDetail.Part.STEPS)
              ? detail.steps().stream().map(StepResource::brief).toList()
              : null,
          parts.contains(JobDetail.Part.ARTIFACTS)
              ? detail.artifacts().stream().map(ArtifactResource::of).toList()
              : null,
          parts.contains(JobDetail.Part.DEPENDENCIES) ? detail.dependencies() : null);
    }

    /** Without the job itself. */
    public Detail only() {
      return new Detail(null, null, events, attempts, steps, artifacts, dependencies);
    }

    public JobDetail detail() {
      JobStatus status = Wire.present("id", job).status();
      return new JobDetail(
          status,
          liveControl == null ? PendingCommand.NONE : liveControl.pending(),
          orNone(events).stream().map(event -> event.event(status.id())).toList(),
          orNone(attempts).stream().map(AttemptResource::toReported).toList(),
          orNone(steps).stream().map(StepResource::status).toList(),
          orNone(artifacts).stream().map(ArtifactResource::published).toList(),
          dependencies == null ? new JobDependencies(List.of(), List.of()) : dependencies);
    }

    private static <T> List<T> orNone(@Nullable List<T> part) {
      return part == null ? List.of() : part;
    }
  }

  /** The result of a job, or its failure. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Outcome(
      JobState state, @Nullable JsonNode result, @Nullable FailureResource failure) {
    /** The failure of an attempt before the one that succeeded is left out. */
    public static Outcome of(JobStatus job) {
      return new Outcome(
          job.state(),
          Wire.tree(job.result()),
          FailureResource.of(job.state() == JobState.SUCCEEDED ? null : job.failure()));
    }
  }
}
