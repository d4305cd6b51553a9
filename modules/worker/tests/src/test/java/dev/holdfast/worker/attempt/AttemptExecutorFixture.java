package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.source.MemorySource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** One attempt on a source in memory. */
abstract class AttemptExecutorFixture {
  final MemorySource source = new MemorySource();
  final TestHost host = new TestHost(source);
  final LeasedJob job = Samples.job();

  @BeforeEach
  void start() {
    host.outbox.start();
  }

  @AfterEach
  void close() {
    host.outbox.close();
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
