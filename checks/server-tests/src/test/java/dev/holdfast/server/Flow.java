package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A steady flow of jobs that are enqueued, run and end, until it is closed. */
public final class Flow implements AutoCloseable {
  private static final int AT_ONCE = 10;
  private static final Duration BETWEEN = Duration.ofMillis(200);

  private final Holdfast holdfast;
  private final String queue;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final CompletableFuture<Void> running;

  private Flow(Holdfast holdfast, String queue) {
    this.holdfast = holdfast;
    this.queue = queue;
    this.running = CompletableFuture.runAsync(this::run);
  }

  public static Flow of(Holdfast holdfast, String queue) {
    return new Flow(holdfast, queue);
  }

  private void run() {
    try {
      do {
        once(holdfast, queue, AT_ONCE);
      } while (!closed.await(BETWEEN.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  public static void once(Holdfast holdfast, String queue, int jobs) {
    holdfast.enqueue(
        IntStream.range(0, jobs).mapToObj(i -> Job.of("flowing").queue(queue)).toList());
    List<LeasedJob> claimed =
        holdfast.jobs().claim(new ClaimRequest(queue, jobs, "flow", Duration.ofMinutes(5))).jobs();
    holdfast
        .jobs()
        .settle(
            claimed.stream()
                .<Settlement>map(job -> new Settlement.Succeed(job.lease(), null))
                .toList());
  }

  @Override
  public void close() {
    closed.countDown();
    running.join();
  }
}
