package dev.holdfast.bench;

import dev.holdfast.model.job.Job;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** Code steps of a handler in an embedded worker. */
final class HoldfastSteps implements StepTrials.Durable {
  private final HoldfastContender holdfast;

  HoldfastSteps(HoldfastContender holdfast) {
    this.holdfast = holdfast;
  }

  @Override
  public String name() {
    return holdfast.name();
  }

  @Override
  public void clear() throws Exception {
    holdfast.clear();
  }

  @Override
  public void run(int jobs, int steps, int concurrency) throws Exception {
    CountDownLatch ran = new CountDownLatch(jobs);
    AutoCloseable worker =
        holdfast
            .holdfast()
            .worker(Job.DEFAULT_QUEUE)
            .concurrency(concurrency)
            .handle(
                "steps",
                Integer.class,
                (number, context) -> {
                  int sum = 0;
                  for (int i = 0; i < steps; i++) {
                    int result = i;
                    sum += context.step("step-" + i, Integer.class, () -> result);
                  }
                  ran.countDown();
                  return sum;
                })
            .start();
    try {
      holdfast
          .holdfast()
          .enqueue(IntStream.range(0, jobs).mapToObj(number -> Job.of("steps", number)).toList());
      ran.await();
      while (!holdfast.isEmpty()) {
        Trials.sleep(1);
      }
    } finally {
      worker.close();
    }
  }

  @Override
  public void verify(int jobs, int steps) throws Exception {
    Target target = holdfast.target();
    target.expect(jobs, "SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
    target.expect(
        (long) jobs * steps,
        "SELECT count(*) FROM holdfast.step WHERE state = 'DONE' AND attempt = 1");
    // Created, processing, done, and of each step when it began and when it was done.
    target.expect(0, "SELECT count(*) FROM holdfast.job WHERE event_count <> " + (3 + 2 * steps));
  }

  @Override
  public void close() {}
}
