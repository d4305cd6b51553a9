package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.simulation.compare.Comparison;
import dev.holdfast.simulation.compare.Races;
import dev.holdfast.simulation.compare.RandomCalls;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.testkit.Extent;
import org.junit.jupiter.api.Test;

/** The model and PostgreSQL answer the same calls the same, and have the same rows afterwards. */
class ComparisonTest {
  @Test
  void random_calls_do_the_same_on_the_model_and_on_postgresql() throws Exception {
    try (Comparison on = new Comparison()) {
      for (long seed = 1; seed <= (Extent.isAll() ? Extent.of(20, 40) : 14); seed++) {
        assertThat(on.differs(RandomCalls.of(seed, 200))).as("seed %d", seed).isNull();
      }
    }
  }

  @Test
  void the_calls_of_simulated_workers_do_the_same_on_postgresql() throws Exception {
    assumeThat(Scheduler.isSupported()).as("needs a JDK of 24 or newer").isTrue();
    Simulator simulator = Simulator.ofWorkers();
    try (Comparison on = new Comparison()) {
      for (long seed = 1; seed <= 2; seed++) {
        assertThat(on.differs(simulator.run(seed, true).calls())).as("seed %d", seed).isNull();
      }
    }
  }

  @Test
  void two_calls_at_once_do_what_one_after_the_other_would() throws Exception {
    try (Comparison on = new Comparison()) {
      assertThat(new Races(on).differs(1, Extent.isAll() ? Extent.of(40, 80) : 20)).isNull();
    }
  }
}
