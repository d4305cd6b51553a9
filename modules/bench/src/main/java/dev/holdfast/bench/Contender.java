package dev.holdfast.bench;

import java.util.function.IntConsumer;

/**
 * A queue on PostgreSQL, with what all of them can do. Jobs are numbered; each carries its number.
 */
interface Contender extends AutoCloseable {
  String name();

  /** Forgets all jobs. */
  void clear() throws Exception;

  /** Returns once the job is durable. Called from several threads. */
  void enqueue(int number) throws Exception;

  /** Jobs from a number on, in the largest steps that make sense. */
  void enqueue(int first, int count) throws Exception;

  /** Runs jobs with so many at once until closed, and calls {@code ran} with each one's number. */
  AutoCloseable work(int concurrency, IntConsumer ran) throws Exception;

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
