package dev.holdfast.worker;

import static dev.holdfast.testkit.Eventually.until;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** A worker on a source in memory, and the calls of its listeners. */
abstract class WorkerFixture {
  final MemorySource source = new MemorySource();
  final List<JobListener> listeners = new ArrayList<>();
  final List<String> heard = new CopyOnWriteArrayList<>();
  final AtomicInteger begun = new AtomicInteger();
  final CountDownLatch release = new CountDownLatch(1);
  final List<Worker> workers = new ArrayList<>();

  @AfterEach
  void stop() {
    release.countDown();
    source.before = verb -> {};
    workers.forEach(worker -> worker.stop(Duration.ZERO));
  }

  Worker worker(Timings timings, Handler<Json> handler) {
    return worker(timings, Kind.of(Samples.KIND, Json.class, handler));
  }

  Worker worker(Timings timings, Kind<Json> kind) {
    Worker worker =
        new Worker(
            source,
            List.of(),
            Samples.options(4, timings),
            Samples.CODEC,
            List.of(kind),
            listeners,
            new Metrics());
    workers.add(worker);
    return worker;
  }

  Worker worker(Handler<Json> handler) {
    return worker(Samples.TIMINGS, handler);
  }

  void listen() {
    listeners.add(
        new JobListener() {
          @Override
          public void started(LeasedJob job, String worker) {
            heard.add("started by " + worker);
          }

          @Override
          public void settled(LeasedJob job, Settlement settlement, Ack ack) {
            heard.add(settlement.getClass().getSimpleName() + " " + ack);
          }

          @Override
          public void lost(LeasedJob job) {
            heard.add("lost");
          }
        });
  }

  void awaitSettled(int count) {
    until(() -> source.allSettled().size() == count);
  }

  Object awaitRelease(Json payload, JobContext context) throws InterruptedException {
    begun.incrementAndGet();
    release.await();
    return "released";
  }
}
