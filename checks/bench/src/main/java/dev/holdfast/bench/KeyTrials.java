package dev.holdfast.bench;

import dev.holdfast.model.job.Job;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;

/** Drains of a backlog in which one job of each concurrency key runs at a time. */
final class KeyTrials {
  private static final int BULK = 1_000;

  /** A single key takes minutes for a backlog, so the rate is that of the first seconds. */
  private static final Duration MOST = Duration.ofSeconds(10);

  private final HoldfastContender holdfast;
  private final Meter meter;
  private final int jobs;

  KeyTrials(HoldfastContender holdfast, Meter meter, int jobs) {
    this.holdfast = holdfast;
    this.meter = meter;
    this.jobs = jobs;
  }

  Map<String, Callable<List<Sample>>> all() {
    Map<String, Callable<List<Sample>>> all = new LinkedHashMap<>();
    all.put("keys", this::keys);
    return all;
  }

  private List<Sample> keys() throws Exception {
    List<Sample> samples = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      // The first round is for the compilers.
      samples.clear();
      Sample none = drained("keys: none", 0);
      Sample one = drained("keys: 1", 1);
      Sample many = drained("keys: 1000", 1_000);
      samples.addAll(List.of(none, one, many));
      samples.add(ratio("1 key to none", one, none));
      samples.add(ratio("1000 keys to none", many, none));
    }
    return samples;
  }

  private static Sample ratio(String trial, Sample keyed, Sample none) {
    return Sample.of(trial, "holdfast", "×", keyed.value() / none.value());
  }

  /**
   * @param keys how many; 0 for jobs without
   */
  private Sample drained(String trial, int keys) throws Exception {
    holdfast.clear();
    enqueue(keys);
    AtomicIntegerArray running = new AtomicIntegerArray(Math.max(1, keys));
    LongAdder over = new LongAdder();
    LongAdder ran = new LongAdder();
    Meter.Reading start = meter.read(holdfast);
    AutoCloseable worker =
        holdfast.work(
            Trials.CONCURRENCY,
            0,
            number -> {
              if (keys > 0 && running.incrementAndGet(number % keys) > 1) {
                over.increment();
              }
              ran.increment();
              if (keys > 0) {
                running.decrementAndGet(number % keys);
              }
            });
    Meter.Reading used;
    int done;
    try {
      long until = System.nanoTime() + MOST.toNanos();
      while (System.nanoTime() < until && ran.sum() < jobs) {
        Trials.sleep(1);
      }
      used = meter.read(holdfast).since(start);
      done = ran.intValue();
    } finally {
      worker.close();
    }
    if (over.sum() > 0) {
      throw new IllegalStateException(over.sum() + " jobs ran beside another one of their key");
    }
    return Sample.rate(trial, "holdfast", done, used);
  }

  private void enqueue(int keys) {
    for (int from = 0; from < jobs; from += BULK) {
      List<Job> batch = new ArrayList<>();
      for (int i = from; i < Math.min(from + BULK, jobs); i++) {
        Job job = Job.of("noop", new HoldfastContender.Numbered(i, Contender.FILLER));
        batch.add(keys == 0 ? job : job.concurrencyKey("key-" + i % keys, 1));
      }
      holdfast.holdfast().enqueue(batch);
    }
  }
}
