package dev.holdfast.bench;

import java.util.Arrays;
import java.util.List;

/** Durable waits: how soon a handler goes on, once what it waits for is there. */
final class WaitTrials {
  private static final int SIGNALS = 200;
  private static final int CHILDREN = 100;
  private static final int PARENTS = 10;
  private static final int HOPS = 20;

  /** What runs handlers that wait. Its worker runs from {@link #start} to {@link #close}. */
  interface Waiting extends AutoCloseable {
    String name();

    void start() throws Exception;

    /** From each call that sends a signal to the handler's next line, one at a time. */
    double[] signals(int count) throws Exception;

    /** From the start of a parent until it has the results of so many children that do nothing. */
    double children(int count) throws Exception;

    /** The same of children that are started one after the other. */
    double chain(int count) throws Exception;

    @Override
    void close();
  }

  private WaitTrials() {}

  static List<Sample> run(Waiting waiting) throws Exception {
    double[] signals = waiting.signals(SIGNALS);
    // The first ones warm the caches of everyone.
    double[] warm = Arrays.copyOfRange(signals, signals.length / 4, signals.length);
    Arrays.sort(warm);
    double[] parents = new double[PARENTS];
    double[] chains = new double[PARENTS];
    for (int i = 0; i < PARENTS; i++) {
      parents[i] = waiting.children(CHILDREN);
      chains[i] = waiting.chain(HOPS) / HOPS;
    }
    Arrays.sort(parents);
    Arrays.sort(chains);
    return List.of(
        of("signal-p50", waiting, warm[warm.length / 2]),
        of("signal-p99", waiting, warm[warm.length * 99 / 100]),
        of("100 children", waiting, parents[PARENTS / 2]),
        of("a hop of 20", waiting, chains[PARENTS / 2]));
  }

  private static Sample of(String trial, Waiting waiting, double millis) {
    return Sample.of(trial, waiting.name(), "ms", millis);
  }
}
