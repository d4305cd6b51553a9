package dev.holdfast.simulation.kernel;

import java.util.concurrent.ThreadFactory;

/** Stands for the builders of platform and virtual threads. */
public interface ThreadBuilder {
  ThreadBuilder name(String name);

  ThreadBuilder daemon();

  Thread unstarted(Runnable body);

  Thread start(Runnable body);

  ThreadFactory factory();

  /** Builds threads of the process whose thread calls it. */
  final class Simulated implements ThreadBuilder {
    private String name = "thread";

    @Override
    public ThreadBuilder name(String value) {
      name = value;
      return this;
    }

    @Override
    public ThreadBuilder daemon() {
      return this;
    }

    @Override
    public Thread unstarted(Runnable body) {
      return new SimulatedThread(SimulatedProcess.current(), name, body).thread();
    }

    @Override
    public Thread start(Runnable body) {
      Thread thread = unstarted(body);
      thread.start();
      return thread;
    }

    @Override
    public ThreadFactory factory() {
      return this::unstarted;
    }
  }
}
