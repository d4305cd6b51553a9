package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Runs attempts as a worker does, and remembers how they ended. */
public final class TestHost implements AttemptListener {
  public record End(AttemptExecutor run, @Nullable Settlement settlement, Ack ack) {}

  final MemorySource source;
  public final Outbox outbox;
  public final List<End> ends = new CopyOnWriteArrayList<>();
  volatile Consumer<AttemptExecutor> whenBeginning = run -> {};
  volatile Predicate<LeasedJob> handledElsewhere = job -> false;
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
    AttemptServices services =
        Samples.services(source, outbox, asked -> handledElsewhere.test(asked));
    return new AttemptExecutor(source.hold(job), kind, System.nanoTime(), services, this);
  }

  /** The only end there was. */
  public End end() {
    if (ends.size() != 1) {
      throw new AssertionError("ended " + ends.size() + " times");
    }
    return ends.getFirst();
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
