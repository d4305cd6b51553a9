package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs and settings as tests need them. */
public final class Samples {
  static final Path FOLDER = Path.of("target", "workplace");
  public static final Scratch SCRATCH = new Scratch(FOLDER.resolve("scratch"), false);
  public static final FolderStore STORE = new FolderStore(FOLDER);
  public static final String QUEUE = "default";
  public static final String KIND = "sample";

  /** Short enough for tests, and long enough for a busy machine. */
  public static final Timings TIMINGS =
      new Timings(
          Duration.ofMillis(100), Duration.ofMillis(500), Duration.ZERO, Duration.ofMillis(200));

  /** The worker knows no secrets; this one is the test's. */
  public static final String SECRET = "correct horse";

  public static final Healing HEALING =
      new Healing(Budgets.DEFAULT, text -> text.replace(SECRET, "***"));

  /** Takes {@link Json} as it is, and everything else as a string. */
  public static final Codec CODEC =
      new Codec() {
        @Override
        public Json encode(Object value) {
          return value instanceof Json json ? json : new Json("\"" + value + "\"");
        }

        @Override
        public <T> T decode(Json json, Class<T> type) {
          if (type != Json.class) {
            throw new RefusedException(Refusal.PAYLOAD_MISMATCH, "not a " + type.getSimpleName());
          }
          return type.cast(json);
        }
      };

  private Samples() {}

  public static LeasedJob job() {
    return job(KIND, null, null);
  }

  public static LeasedJob job(
      String kind, @Nullable Duration timeout, @Nullable Duration untilDeadline) {
    JobId id = JobId.next();
    return new LeasedJob(
        new Lease(id, 1),
        kind,
        QUEUE,
        Json.EMPTY,
        "default",
        "default",
        id,
        "key",
        Instant.EPOCH,
        0,
        3,
        Duration.ofMillis(5),
        timeout,
        untilDeadline,
        JobAttributes.NONE);
  }

  /** A later attempt of the same job. */
  static LeasedJob attempt(LeasedJob job, int attempt) {
    return new LeasedJob(
        new Lease(job.id(), attempt),
        job.kind(),
        job.queue(),
        job.payload(),
        job.tenant(),
        job.workspace(),
        job.run(),
        job.runKey(),
        job.enqueuedAt(),
        job.failures(),
        job.maxAttempts(),
        job.queueWait(),
        job.timeout(),
        job.untilDeadline(),
        job.attributes());
  }

  public static WorkerOptions options(int concurrency) {
    return options(concurrency, TIMINGS);
  }

  public static WorkerOptions options(int concurrency, Timings timings) {
    return new WorkerOptions(
        "worker:default:0@test",
        List.of(QUEUE),
        concurrency,
        timings,
        Duration.ofMillis(50),
        Duration.ofSeconds(10),
        Backpressure.Settings.OFF,
        SCRATCH,
        STORE,
        HEALING,
        Duration.ZERO,
        WorkerOptions.DEFAULT_FAILURE_LOG);
  }
}
