package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Codec;
import dev.holdfast.model.Json;
import dev.holdfast.model.Lease;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Stands where the worker stands, and remembers how attempts ended. */
final class TestHost implements JobRun.Host {
  record End(JobRun run, @Nullable Settlement settlement, Ack ack) {}

  final MemorySource source;
  final Outbox outbox;
  final List<End> ends = new CopyOnWriteArrayList<>();
  volatile Consumer<JobRun> whenBeginning = run -> {};
  volatile Predicate<LeasedJob> knownElsewhere = job -> false;
  final List<JobRun> begun = new CopyOnWriteArrayList<>();
  final List<JobRun> stopping = new CopyOnWriteArrayList<>();

  TestHost(MemorySource source) {
    this.source = source;
    this.outbox = new Outbox(source);
  }

  JobRun run(LeasedJob job, Handler<Json> handler) {
    return run(job, Kind.of(job.kind(), Json.class, handler));
  }

  JobRun run(LeasedJob job, @Nullable Kind<?> kind) {
    return new JobRun(source.hold(job), kind, System.nanoTime(), this);
  }

  /** The only end there was. */
  End end() {
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
  public Workplace workplace(Lease lease) {
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
  public RunContext.Healer healer(JobRun run) {
    return Samples.healer(source, run::job);
  }

  @Override
  public void beginning(JobRun run) {
    begun.add(run);
    whenBeginning.accept(run);
  }

  @Override
  public void performed(JobRun run, Duration took) {}

  @Override
  public void stopping(JobRun run) {
    stopping.add(run);
  }

  @Override
  public void ended(JobRun run, @Nullable Settlement settlement, Ack ack) {
    ends.add(new End(run, settlement, ack));
  }
}
