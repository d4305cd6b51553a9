package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.source.MemorySource;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** The context of one attempt, on a source in memory. */
abstract class AttemptContextFixture {
  final ManualNanos nanos = new ManualNanos();
  final MemorySource source = new MemorySource();
  final TestHost host = new TestHost(source);
  final Outbox outbox = host.outbox;
  final LeasedJob job = source.hold(Samples.job());
  final AtomicInteger lost = new AtomicInteger();
  final StopSignal signal = new StopSignal(job.lease());
  final AttemptContext context =
      new AttemptContext(
          job, 0, host.services, signal, new HandlerThread(), nanos, lost::incrementAndGet);

  void stop(StopReason reason) {
    signal.set(reason);
    signal.fire();
  }

  void end() {
    signal.end();
    context.reports().end();
  }

  @AfterEach
  void close() {
    outbox.close();
  }

  // ---- attachments

  final Queue<String> calls = new ConcurrentLinkedQueue<>();
}
