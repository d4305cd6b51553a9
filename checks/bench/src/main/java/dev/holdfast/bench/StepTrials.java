package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.List;

/** Durable steps that do nothing: many jobs at once, and one job alone. */
final class StepTrials {
  private static final int JOBS = 1_000;
  private static final int STEPS = 10;
  private static final int CONCURRENCY = 100;
  private static final int STEPS_ALONE = 500;

  /** What runs jobs of durable steps. */
  interface Durable extends AutoCloseable {
    String name();

    void clear() throws Exception;

    /** Enqueues these and returns when all have ended. */
    void run(int jobs, int steps, int concurrency) throws Exception;

    /** Throws unless the database knows that each job and each of its steps has run once. */
    void verify(int jobs, int steps) throws Exception;

    @Override
    void close();
  }

  private final Meter meter;
  private final Contender process;

  /**
   * @param process whose processor time is the client's: all of these run in it
   */
  StepTrials(Meter meter, Contender process) {
    this.meter = meter;
    this.process = process;
  }

  List<Sample> run(Durable durable) throws Exception {
    List<Sample> samples = new ArrayList<>();
    Meter.Reading many = measured(durable, JOBS, STEPS, CONCURRENCY);
    double steps = (double) JOBS * STEPS;
    samples.add(
        new Sample(
            "steps",
            durable.name(),
            "steps/s",
            steps / many.seconds(),
            many.client() * 100_000 / steps,
            many.server() * 100_000 / steps));
    Meter.Reading alone = measured(durable, 1, STEPS_ALONE, 1);
    samples.add(
        new Sample(
            "steps, one job",
            durable.name(),
            "steps/s",
            STEPS_ALONE / alone.seconds(),
            alone.client() * 100_000 / STEPS_ALONE,
            alone.server() * 100_000 / STEPS_ALONE));
    return samples;
  }

  private Meter.Reading measured(Durable durable, int jobs, int steps, int concurrency)
      throws Exception {
    durable.clear();
    Meter.Reading start = meter.read(process);
    durable.run(jobs, steps, concurrency);
    Meter.Reading used = meter.read(process).since(start);
    durable.verify(jobs, steps);
    return used;
  }
}
