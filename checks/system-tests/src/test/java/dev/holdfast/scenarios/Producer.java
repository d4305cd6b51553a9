package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Enqueues a job every few milliseconds until it is stopped. */
final class Producer {
  private static final Duration PAUSE = Duration.ofMillis(5);

  private final World world;
  private final Supplier<Job> jobs;
  private final List<JobId> acknowledged = new ArrayList<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("producer").unstarted(this::run);
  private volatile boolean stopped;

  private Producer(World world, Supplier<Job> jobs) {
    this.world = world;
    this.jobs = jobs;
  }

  static Producer start(World world, Supplier<Job> jobs) {
    Producer producer = new Producer(world, jobs);
    producer.thread.start();
    return producer;
  }

  private void run() {
    while (!stopped) {
      Job job = jobs.get();
      // One id however often it is tried, so that a lost answer does not make a second job.
      while (!stopped && !handIn(job)) {
        LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private boolean handIn(Job job) {
    try {
      acknowledged.add(world.holdfast().enqueue(job).id());
      return true;
    } catch (DatabaseException unavailable) {
      return false;
    }
  }

  /** The jobs whose enqueue was answered. */
  List<JobId> stop() {
    stopped = true;
    try {
      if (!thread.join(SOON)) {
        throw new AssertionError("the producer does not stop");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
    return acknowledged;
  }
}
