package dev.holdfast.bench;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Handlers that wait in an embedded worker. */
final class HoldfastWaits implements WaitTrials.Waiting {
  private static final PayloadType<Integer> NUMBER = PayloadType.of(Integer.class);
  private static final Duration LONG = Duration.ofHours(1);
  private static final int SLEEPERS = 50_000;

  private final HoldfastContender contender;
  private final Holdfast holdfast;
  private final BlockingQueue<Long> went = new LinkedBlockingQueue<>();
  private final AtomicInteger awaited = new AtomicInteger();
  private final AtomicInteger awake = new AtomicInteger();
  private @Nullable AutoCloseable worker;

  HoldfastWaits(HoldfastContender contender) {
    this.contender = contender;
    this.holdfast = contender.holdfast();
  }

  @Override
  public String name() {
    return contender.name();
  }

  @Override
  public void start() throws Exception {
    contender.clear();
    worker =
        holdfast
            .worker(Job.DEFAULT_QUEUE)
            .concurrency(100)
            .handle("signals", Integer.class, this::signalled)
            .handle("parent", Integer.class, this::parent)
            .handle("chain", Integer.class, this::chained)
            .handle("child", Integer.class, (number, context) -> number)
            .handle("sleeper", Integer.class, this::slept)
            .start();
  }

  private @Nullable Object signalled(int count, JobContext context) {
    for (int i = 0; i < count; i++) {
      context.await("wait-" + i, "go", NUMBER, LONG);
      // Not when the handler is called again, past what it has waited for before.
      if (awaited.compareAndSet(i, i + 1)) {
        went.add(System.nanoTime());
      }
    }
    return null;
  }

  private Object parent(int count, JobContext context) {
    List<Integer> numbers = IntStream.range(0, count).boxed().toList();
    int results =
        context.map("children", numbers, number -> Job.of("child", number), Integer.class).size();
    went.add(System.nanoTime());
    return results;
  }

  private Object chained(int count, JobContext context) {
    for (int i = 0; i < count; i++) {
      context.join("end-" + i, List.of(context.spawn("child-" + i, Job.of("child", i))));
    }
    went.add(System.nanoTime());
    return count;
  }

  private @Nullable Object slept(int number, JobContext context) {
    context.sleep("sleep", LONG);
    awake.incrementAndGet();
    return null;
  }

  @Override
  public double[] signals(int count) throws Exception {
    awaited.set(0);
    JobId job = holdfast.enqueue(Job.of("signals", count)).id();
    double[] millis = new double[count];
    for (int i = 0; i < count; i++) {
      while (holdfast.find(job).orElseThrow().state() != JobState.WAITING) {
        Trials.sleep(1);
      }
      Trials.sleep(5 + i % 7);
      long start = System.nanoTime();
      holdfast.signal(job, "go", i);
      millis[i] = (went.take() - start) / 1e6;
    }
    return millis;
  }

  @Override
  public double children(int count) throws Exception {
    return once("parent", count);
  }

  @Override
  public double chain(int count) throws Exception {
    return once("chain", count);
  }

  private double once(String kind, int count) throws Exception {
    Trials.sleep(20);
    long start = System.nanoTime();
    holdfast.enqueue(Job.of(kind, count));
    return (went.take() - start) / 1e6;
  }

  /** How many jobs a second go on whose sleep is over at the same moment. */
  List<Sample> wakeUps() throws Exception {
    start();
    try {
      for (int from = 0; from < SLEEPERS; from += 1_000) {
        List<Job> jobs = new ArrayList<>();
        for (int i = from; i < from + 1_000; i++) {
          jobs.add(Job.of("sleeper", i));
        }
        holdfast.enqueue(jobs);
      }
      await(SLEEPERS, "SELECT count(*) FROM holdfast.job WHERE state = 'WAITING'");
      awake.set(0);
      contender.target().run("UPDATE holdfast.job SET wake_at = clock_timestamp()");
      long start = System.nanoTime();
      // Counted by the handlers: to count rows of the table again and again would cost as much as
      // to
      // wake them.
      while (awake.get() < SLEEPERS) {
        Trials.sleep(1);
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      await(SLEEPERS, "SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
      contender.target().expect(SLEEPERS, "SELECT count(*) FROM holdfast.job WHERE attempt = 2");
      return List.of(Sample.of("wake-up", name(), "jobs/s", SLEEPERS / seconds));
    } finally {
      close();
    }
  }

  private void await(long count, String sql) throws Exception {
    Instant end = Instant.now().plus(Duration.ofMinutes(5));
    while (contender.target().count(sql) != count) {
      if (Instant.now().isAfter(end)) {
        throw new IllegalStateException("not " + count + ": " + sql);
      }
      Trials.sleep(100);
    }
  }

  @Override
  public void close() {
    AutoCloseable running = worker;
    worker = null;
    if (running != null) {
      try {
        running.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
