package dev.holdfast.bench;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * A queue on PostgreSQL, with what all of them can do. Jobs are numbered; each carries its number
 * in a payload of some 170 bytes.
 */
interface Contender extends AutoCloseable {
  /** Makes a payload as large as that of a usual job. */
  String FILLER = "x".repeat(150);

  String name();

  /** Forgets all jobs. */
  void clear() throws Exception;

  /** Returns once the job is durable. Called from several threads. */
  void enqueue(int number) throws Exception;

  /** Jobs from a number on, in the largest steps that make sense. */
  void enqueue(int first, int count) throws Exception;

  /** Single enqueues by so many threads, each durable before the next; returns how many. */
  default int enqueueSingly(int threads, Duration during) throws Exception {
    AtomicInteger next = new AtomicInteger();
    long until = System.nanoTime() + during.toNanos();
    Trials.inParallel(
        threads,
        thread -> {
          while (System.nanoTime() < until) {
            enqueue(next.getAndIncrement());
          }
        });
    return next.get();
  }

  /**
   * Runs jobs, which take so many milliseconds, with so many at once until closed, and calls {@code
   * ran} with the number of each when it has run.
   */
  AutoCloseable work(int concurrency, int millis, IntConsumer ran) throws Exception;

  /** Starts a process that runs jobs until it is closed; empty where there is none. */
  default Optional<AutoCloseable> process(int concurrency) throws Exception {
    return Optional.empty();
  }

  /** From the call that enqueues to the handler's first line, in milliseconds, job by job. */
  default double[] pickUp(int count) throws Exception {
    return Trials.pickedUp(this, count);
  }

  /** Processor time that the client has used so far. */
  default double clientSeconds() {
    return ProcessHandle.current().info().totalCpuDuration().map(Duration::toMillis).orElse(0L)
        / 1e3;
  }

  /** Whether every job has been settled. */
  boolean isEmpty() throws Exception;

  /** Throws unless the database knows that so many jobs have run, each once, and none is left. */
  void verify(int count) throws Exception;

  /** A share of the usual number of jobs, for those that would take minutes. */
  default double share() {
    return 1;
  }

  /** Whether it can say, in an idle system, when a single job was begun; polling cannot. */
  default boolean picksUp() {
    return true;
  }

  @Override
  void close();
}
