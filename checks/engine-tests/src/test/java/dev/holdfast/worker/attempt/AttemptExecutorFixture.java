package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** One attempt on a source in memory. */
abstract class AttemptExecutorFixture {
  final MemorySource source = new MemorySource();
  TestHost host = new TestHost(source);
  final LeasedJob job = Samples.job();

  @BeforeEach
  void start() {
    host.outbox.start();
  }

  @AfterEach
  void close() {
    host.outbox.close();
  }

  /** As a worker that leaves jobs of kinds it does not know to others for a while. */
  TestHost patient() {
    WorkerOptions given = Samples.options(1);
    host.outbox.close();
    host =
        new TestHost(
            source,
            new WorkerOptions(
                given.worker(),
                given.queues(),
                given.concurrency(),
                given.timings(),
                given.poll(),
                given.shutdownTimeout(),
                given.backpressure(),
                given.scratch(),
                given.artifacts(),
                given.healing(),
                Duration.ofMinutes(1),
                given.failureLog()));
    host.outbox.start();
    return host;
  }

  TestHost.End end(AttemptExecutor run) {
    run.run();
    return end();
  }

  TestHost.End end() {
    until(() -> !host.ends.isEmpty());
    return host.end();
  }

  Failure failure(AttemptExecutor run) {
    if (end(run).settlement() instanceof Settlement.Fail fail) {
      return fail.failure();
    }
    throw new AssertionError("did not fail: " + end().settlement());
  }

  Failure failureOf(Handler<Json> handler) {
    return failure(host.run(job, handler));
  }
}
