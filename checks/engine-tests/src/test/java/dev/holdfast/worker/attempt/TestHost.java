package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Runs attempts as a worker does, and remembers how they ended. */
public final class TestHost {
  /**
   * @param settlement null when there was none to write
   */
  public record End(@Nullable Settlement settlement, Ack ack) {}

  /** So that no attempt is abandoned unless a test does it. */
  private static final Timings PATIENT =
      new Timings(
          Samples.TIMINGS.heartbeat(), Samples.TIMINGS.lease(), Duration.ZERO, Duration.ofHours(1));

  final MemorySource source;
  public final AttemptServices services;
  public final Outbox outbox;
  public final List<End> ends = new CopyOnWriteArrayList<>();

  public TestHost(MemorySource source) {
    this(source, Samples.options(1, PATIENT));
  }

  public TestHost(MemorySource source, WorkerOptions options) {
    this.source = source;
    this.services =
        AttemptServices.of(
            source, options, Samples.CODEC, List.of(remembering()), new Metrics(), () -> {});
    this.outbox = services.outbox();
  }

  private JobListener remembering() {
    return new JobListener() {
      @Override
      public void settled(LeasedJob job, Settlement settlement, Ack ack) {
        ends.add(new End(settlement, ack));
      }

      @Override
      public void lost(LeasedJob job) {
        ends.add(new End(null, Ack.LEASE_LOST));
      }
    };
  }

  public AttemptExecutor run(LeasedJob job, Handler<Json> handler) {
    return run(job, Kind.of(job.kind(), Json.class, handler));
  }

  public AttemptExecutor run(LeasedJob job, @Nullable Kind<?> kind) {
    return new AttemptExecutor(source.hold(job), kind, System.nanoTime(), services);
  }

  /** On the thread of the caller. */
  public static void runHere(AttemptExecutor run) {
    run.run();
  }

  public static boolean isStopped(AttemptExecutor run) {
    return run.stop.isSet();
  }

  /** The only end there was. */
  public End end() {
    if (ends.size() != 1) {
      throw new AssertionError("ended " + ends.size() + " times");
    }
    return ends.getFirst();
  }
}
