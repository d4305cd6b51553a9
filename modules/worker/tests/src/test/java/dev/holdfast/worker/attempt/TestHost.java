package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Stands where the worker stands, and remembers how attempts ended. */
public final class TestHost implements AttemptExecutor.Host {
  public record End(AttemptExecutor run, @Nullable Settlement settlement, Ack ack) {}

  final MemorySource source;
  public final Outbox outbox;
  public final List<End> ends = new CopyOnWriteArrayList<>();
  volatile Consumer<AttemptExecutor> whenBeginning = run -> {};
  volatile Predicate<LeasedJob> knownElsewhere = job -> false;
  public final List<AttemptExecutor> begun = new CopyOnWriteArrayList<>();
  public final List<AttemptExecutor> stopping = new CopyOnWriteArrayList<>();

  public TestHost(MemorySource source) {
    this.source = source;
    this.outbox = new Outbox(source);
  }

  public AttemptExecutor run(LeasedJob job, Handler<Json> handler) {
    return run(job, Kind.of(job.kind(), Json.class, handler));
  }

  public AttemptExecutor run(LeasedJob job, @Nullable Kind<?> kind) {
    return new AttemptExecutor(source.hold(job), kind, System.nanoTime(), this);
  }

  /** The only end there was. */
  public End end() {
    if (ends.size() != 1) {
      throw new AssertionError("ended " + ends.size() + " times");
    }
    return ends.getFirst();
  }

  @Override
  public Codec codec() {
    return Samples.CODEC;
  }

  @Override
  public Outbox outbox() {
    return outbox;
  }

  @Override
  public AttemptResources workplace(Lease lease) {
    return Samples.workplace(lease, source);
  }

  @Override
  public Optional<Publisher.Finished> finished(
      Lease lease, List<String> artifacts, Consumer<String> damaged) {
    return Samples.publisher(source).finished(lease, artifacts, damaged);
  }

  @Override
  public boolean mayBeKnown(LeasedJob job) {
    return knownElsewhere.test(job);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return source.succeeded(lease);
  }

  @Override
  public AttemptContext.Healer healer(AttemptExecutor run) {
    return Samples.healer(source, run::job);
  }

  @Override
  public void beginning(AttemptExecutor run) {
    begun.add(run);
    whenBeginning.accept(run);
  }

  @Override
  public void performed(AttemptExecutor run, Duration took) {}

  @Override
  public void stopping(AttemptExecutor run) {
    stopping.add(run);
  }

  @Override
  public void ended(AttemptExecutor run, @Nullable Settlement settlement, Ack ack) {
    ends.add(new End(run, settlement, ack));
  }
}
