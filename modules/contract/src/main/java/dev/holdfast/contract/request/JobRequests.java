package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns jobs into requests, in batches within the limits of one request. */
public final class JobRequests {
  private JobRequests() {}

  public static List<List<JobRequest>> of(List<Job> jobs) {
    List<List<JobRequest>> portions = new ArrayList<>();
    List<JobRequest> portion = new ArrayList<>();
    long bytes = 0;
    for (Job job : jobs) {
      Json payload = payload(job);
      long size = payload.text().getBytes(StandardCharsets.UTF_8).length;
      if (!portion.isEmpty()
          && (portion.size() == Limits.BULK_JOBS || bytes + size > Limits.BULK_BYTES)) {
        portions.add(portion);
        portion = new ArrayList<>();
        bytes = 0;
      }
      portion.add(request(job, payload));
      bytes += size;
    }
    if (!portion.isEmpty()) {
      portions.add(portion);
    }
    return portions;
  }

  /** Checked to be one JSON document: it is written into the request without quoting. */
  public static Json payload(Job job) {
    return checked(job.payload());
  }

  static Json checked(Object given) {
    if (!(given instanceof Json payload)) {
      throw new IllegalArgumentException("through a server, a payload must be JSON already");
    }
    Limits.payload(payload);
    try {
      if (isOne(payload)) {
        return payload;
      }
    } catch (WireException wrong) {
      if (wrong.kind() == WireException.Kind.TOO_LARGE) {
        throw new RefusedException(Refusal.PAYLOAD_TOO_LARGE, String.valueOf(wrong.getMessage()));
      }
    }
    throw new RefusedException(Refusal.PAYLOAD_NOT_JSON, "the payload is not JSON");
  }

  private static @Nullable Json resources(Job job) {
    if (job.resources() == null) {
      return null;
    }
    if (!(job.resources() instanceof Json resources)) {
      throw new IllegalArgumentException("through a server, resources must be JSON already");
    }
    try {
      if (isOne(Limits.resources(resources))) {
        return resources;
      }
    } catch (WireException malformed) {
      // thrown below
    }
    throw new RefusedException(Refusal.BAD_RESOURCES, "resources are not JSON");
  }

  private static boolean isOne(Json document) {
    return !Wire.tree(document.text().getBytes(StandardCharsets.UTF_8)).isMissingNode();
  }

  /** A job that another one starts: what it does not say itself follows from that one. */
  public static JobRequest child(Job job) {
    if (!(job.payload() instanceof Json payload)) {
      throw new IllegalArgumentException(
          "the payload of a job that is started must be JSON already");
    }
    return request(job, payload, job.ownQueue(), job.ownPriority());
  }

  /** Defaults are left out, so that a key of one tenant enqueues jobs of its tenant. */
  private static JobRequest request(Job job, Json payload) {
    return request(job, payload, job.queue(), job.priority());
  }

  private static JobRequest request(
      Job job, Json payload, @Nullable String queue, @Nullable Integer priority) {
    Unique unique = job.unique();
    boolean delayed = !job.delay().isZero();
    boolean ofARun = !job.run().equals(job.id());
    return new JobRequest(
        job.id(),
        job.kind(),
        payload,
        queue,
        priority,
        delayed ? Long.valueOf(job.delay().toMillis()) : null,
        job.runAt(),
        job.maxAttempts(),
        job.maxCrashes(),
        millis(job.timeout()),
        job.deadline(),
        job.tenant().equals(Job.DEFAULT_OWNER) ? null : job.tenant(),
        job.workspace().equals(Job.DEFAULT_OWNER) ? null : job.workspace(),
        ofARun ? job.run() : null,
        job.runKey().equals(job.kind()) ? null : job.runKey(),
        job.parent(),
        job.dependsOn().isEmpty() ? null : List.copyOf(job.dependsOn()),
        job.dependsOn().isEmpty() ? null : job.whenDependencyFails(),
        unique == null ? null : unique.key(),
        unique == null || unique.states().equals(JobState.ACTIVE) ? null : unique.states(),
        unique == null ? null : millis(unique.window()),
        job.concurrencyKey(),
        job.concurrencyKey() == null ? null : Integer.valueOf(job.concurrencyLimit()),
        job.assetId(),
        job.partitionKey(),
        resources(job),
        job.traceparent(),
        job.tags().isEmpty() ? null : job.tags());
  }

  private static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : Long.valueOf(duration.toMillis());
  }
}
