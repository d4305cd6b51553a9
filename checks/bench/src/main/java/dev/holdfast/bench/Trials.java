package dev.holdfast.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** What every contender does. Each trial checks that every job ran, and ran once. */
final class Trials {
  static final int CONCURRENCY = 500;
  private static final long TIMEOUT_SECONDS = 300;

  private final Meter meter;
  private final int jobs;

  Trials(Meter meter, int jobs) {
    this.meter = meter;
    this.jobs = jobs;
  }

  /** A trial by its name. */
  interface Trial {
    List<Sample> run(Contender contender) throws Exception;
  }

  /** Single enqueues from eight threads, each durable before the next. */
  List<Sample> single(Contender contender) throws Exception {
    contender.clear();
    Meter.Reading start = meter.read(contender);
    int count = contender.enqueueSingly(8, Duration.ofSeconds(5));
    return List.of(
        Sample.rate("single", contender.name(), count, meter.read(contender).since(start)));
  }

  List<Sample> bulk(Contender contender) throws Exception {
    contender.clear();
    int count = share(contender);
    Meter.Reading start = meter.read(contender);
    contender.enqueue(0, count);
    return List.of(
        Sample.rate("bulk", contender.name(), count, meter.read(contender).since(start)));
  }

  List<Sample> drain(Contender contender) throws Exception {
    return List.of(drained("drain", contender, CONCURRENCY, share(contender), 0));
  }

  List<Sample> drainSlow(Contender contender) throws Exception {
    int count = share(contender) / 5;
    return List.of(drained("drain-1ms", contender, 200, count, 1));
  }

  Sample drained(String trial, Contender contender, int concurrency, int count, int millis)
      throws Exception {
    contender.clear();
    contender.enqueue(0, count);
    return worked(trial, contender, concurrency, count, millis);
  }

  /** From the start of a worker to the last settle. */
  Sample worked(String trial, Contender contender, int concurrency, int count, int millis)
      throws Exception {
    return worked(trial, contender, concurrency, count, millis, () -> {});
  }

  /** Producers and a worker at once. */
  List<Sample> flow(Contender contender) throws Exception {
    contender.clear();
    int producers = 2;
    int own = share(contender) / producers;
    return List.of(
        worked(
            "flow",
            contender,
            CONCURRENCY,
            own * producers,
            0,
            () ->
                inParallel(
                    producers,
                    producer -> {
                      for (int done = 0; done < own; done += 100) {
                        contender.enqueue(producer * own + done, Math.min(100, own - done));
                      }
                    })));
  }

  /** From the start of a process to the last of the jobs that are there, its start-up included. */
  List<Sample> cold(Contender contender) throws Exception {
    contender.clear();
    int count = share(contender);
    contender.enqueue(0, count);
    long start = System.nanoTime();
    Optional<AutoCloseable> process = contender.process(CONCURRENCY);
    if (process.isEmpty()) {
      return List.of();
    }
    try {
      while (!contender.isEmpty()) {
        sleep(20);
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      contender.verify(count);
      return List.of(Sample.of("cold", contender.name(), "jobs/s", count / seconds));
    } finally {
      process.get().close();
    }
  }

  /** What happens while a worker runs. */
  private interface Meanwhile {
    void run() throws Exception;
  }

  private Sample worked(
      String trial,
      Contender contender,
      int concurrency,
      int count,
      int millis,
      Meanwhile meanwhile)
      throws Exception {
    Once once = new Once(count);
    Meter.Reading used;
    Meter.Reading start = meter.read(contender);
    AutoCloseable worker = contender.work(concurrency, millis, once::ran);
    try {
      meanwhile.run();
      once.await();
      while (!contender.isEmpty()) {
        sleep(1);
      }
      used = meter.read(contender).since(start);
    } finally {
      worker.close();
    }
    contender.verify(count);
    once.verify();
    return Sample.rate(trial, contender.name(), count, used);
  }

  /** From the call that enqueues to the handler's first line, one job at a time. */
  List<Sample> pickUp(Contender contender) throws Exception {
    contender.clear();
    double[] millis = contender.pickUp(400);
    // The first ones warm the caches of everyone.
    double[] warm = Arrays.copyOfRange(millis, millis.length / 4, millis.length);
    Arrays.sort(warm);
    return List.of(
        Sample.of("pickup-p50", contender.name(), "ms", warm[warm.length / 2]),
        Sample.of("pickup-p99", contender.name(), "ms", warm[warm.length * 99 / 100]));
  }

  static double[] pickedUp(Contender contender, int count) throws Exception {
    long[] began = new long[count];
    CountDownLatch[] seen = new CountDownLatch[count];
    Arrays.setAll(seen, i -> new CountDownLatch(1));
    double[] millis = new double[count];
    AutoCloseable worker =
        contender.work(
            10,
            0,
            number -> {
              began[number] = System.nanoTime();
              seen[number].countDown();
            });
    try {
      sleep(500);
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        contender.enqueue(i);
        if (!seen[i].await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException("job " + i + " was not picked up");
        }
        millis[i] = (began[i] - start) / 1e6;
        sleep(5 + i % 7);
      }
    } finally {
      worker.close();
    }
    return millis;
  }

  private int share(Contender contender) {
    return Math.max(1_000, (int) (jobs * contender.share()));
  }

  static void sleep(long millis) {
    if (millis == 0) {
      return;
    }
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Work for one of several threads. */
  interface Part {
    void run(int thread) throws Exception;
  }

  static void inParallel(int threads, Part part) throws Exception {
    Throwable[] error = new Throwable[1];
    Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      int thread = i;
      all[i] =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      part.run(thread);
                    } catch (Throwable thrown) {
                      error[0] = thrown;
                    }
                  });
    }
    for (Thread thread : all) {
      thread.join();
    }
    if (error[0] != null) {
      throw new IllegalStateException("a producer failed", error[0]);
    }
  }

  /** How often each job has run. */
  static final class Once {
    private final AtomicIntegerArray runs;
    private final CountDownLatch left;

    Once(int count) {
      runs = new AtomicIntegerArray(count);
      left = new CountDownLatch(count);
    }

    void ran(int number) {
      runs.incrementAndGet(number);
      left.countDown();
    }

    void await() throws InterruptedException {
      if (!left.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(left.getCount() + " jobs have not run");
      }
    }

    long left() {
      return left.getCount();
    }

    void verify() {
      for (int i = 0; i < runs.length(); i++) {
        if (runs.get(i) != 1) {
          throw new IllegalStateException("job " + i + " ran " + runs.get(i) + " times");
        }
      }
    }
  }
}
