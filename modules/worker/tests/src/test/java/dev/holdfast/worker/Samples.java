package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Codec;
import dev.holdfast.model.JobAttributes;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Json;
import dev.holdfast.model.Lease;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Patch;
import dev.holdfast.model.Publication;
import dev.holdfast.model.PublishedArtifact;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.StepStatus;
import dev.holdfast.model.Timings;
import dev.holdfast.steps.Interventions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Jobs and settings as tests need them. */
final class Samples {
  static final Path FOLDER = Path.of("target", "workplace");
  static final Scratch SCRATCH = new Scratch(FOLDER.resolve("scratch"), false);
  static final FolderStore STORE = new FolderStore(FOLDER);
  static final String QUEUE = "default";
  static final String KIND = "sample";

  /** Short enough for tests, and long enough for a busy machine. */
  static final Timings TIMINGS =
      new Timings(
          Duration.ofMillis(100), Duration.ofMillis(500), Duration.ZERO, Duration.ofMillis(200));

  /** Takes {@link Json} as it is, and everything else as a string. */
  static final Codec CODEC =
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

  static LeasedJob job() {
    return job(KIND, null, null);
  }

  static LeasedJob job(String kind, @Nullable Duration timeout, @Nullable Duration untilDeadline) {
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

  /** An attempt's place on this machine. */
  static Workplace workplace(Lease lease, MemorySource source) {
    return new Workplace(lease, SCRATCH, publisher(source), TIMINGS.cancelGrace());
  }

  static Publisher publisher(MemorySource source) {
    return new Publisher(
        STORE,
        new Publisher.Source() {
          @Override
          public Ack publish(Publication publication) {
            return source.publish(publication);
          }

          @Override
          public List<PublishedArtifact> artifacts(Lease lease) {
            return source.artifacts(lease);
          }
        });
  }

  static WorkerOptions options(int concurrency) {
    return options(concurrency, TIMINGS);
  }

  static WorkerOptions options(int concurrency, Timings timings) {
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
        Healing.DEFAULT,
        Duration.ZERO);
  }

  static RunContext.Healer healer(MemorySource source, Supplier<LeasedJob> job) {
    return new RunContext.Healer() {
      private final Metrics metrics = new Metrics();

      @Override
      public Healing healing() {
        return Healing.DEFAULT;
      }

      @Override
      public Duration grace() {
        return TIMINGS.cancelGrace();
      }

      @Override
      public Metrics metrics() {
        return metrics;
      }

      @Override
      public Optional<Patch> patch(String step) {
        return source.patch(job.get().lease(), step);
      }

      @Override
      public List<StepStatus> steps(Interventions interventions) {
        return source.steps(job.get().lease());
      }
    };
  }
}
