package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.AttributesJson;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A job that was checked, with its payload and attributes as JSON. */
record EncodedJob(Job job, Json payload, @Nullable String attributes) {
  /**
   * Batches insert in this order, so that two of them that want the same keys take them in the same
   * order and cannot deadlock. A key belongs to a tenant and a kind.
   */
  static final Comparator<EncodedJob> ORDER =
      Comparator.comparing(EncodedJob::uniqueKeyText)
          .thenComparing(each -> each.job.tenant())
          .thenComparing(each -> each.job.kind())
          .thenComparing(EncodedJob::id);

  /** Refuses a job that is too large, and fills in what it does not set itself. */
  static EncodedJob of(Job asked, Codec codec, EnqueueDefaults defaults) {
    Job job = defaults.applied(asked);
    if (job.resources() != null) {
      job = job.resources(Limits.resources(codec.encode(job.resources())));
    }
    Json payload = Limits.payload(codec.encode(job.payload()));
    return new EncodedJob(job, payload, AttributesJson.of(job));
  }

  /** So many jobs cannot have too many bytes, because the payload of each was checked. */
  private static final int NEVER_TOO_LARGE = Limits.BULK_BYTES / Limits.PAYLOAD_BYTES;

  /** Refuses what one enqueue may not hold: an id twice, or too many bytes. */
  static List<EncodedJob> checkTogether(List<EncodedJob> jobs) {
    Set<JobId> ids = new HashSet<>();
    long bytes = 0;
    for (EncodedJob each : jobs) {
      if (!ids.add(each.id())) {
        throw new RefusedException(Refusal.BAD_ID, "job " + each.id() + " is twice in one enqueue");
      }
      if (jobs.size() > NEVER_TOO_LARGE) {
        bytes += Limits.bytes(each.payload);
      }
      if (bytes > Limits.BULK_BYTES) {
        throw new RefusedException(
            Refusal.PAYLOAD_TOO_LARGE,
            "the payloads of one enqueue are over the limit of %,d bytes: enqueue them in several calls"
                .formatted(Limits.BULK_BYTES));
      }
    }
    return jobs;
  }

  JobId id() {
    return job.id();
  }

  boolean isUnique() {
    return job.unique() != null;
  }

  boolean hasDeadline() {
    return job.deadline() != null;
  }

  /** Whether a unique key, dependencies or a deadline make it more than one statement. */
  boolean takesSeveralStatements() {
    return isUnique() || !job.dependsOn().isEmpty() || hasDeadline();
  }

  @Nullable String uniqueKey() {
    Unique unique = job.unique();
    return unique == null ? null : unique.key();
  }

  private String uniqueKeyText() {
    String key = uniqueKey();
    return key == null ? "" : key;
  }
}
