package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.trace.Outcome;
import dev.holdfast.testkit.Extent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Workers as they ship, on virtual time. A seed that fails: {@code ./simulate --seed N}. */
class SimulationTest {
  private static final int LINES = 30;

  @BeforeAll
  static void quietly() {
    assumeThat(Scheduler.isSupported()).as("needs a JDK of 24 or newer").isTrue();
    ((Logger) LoggerFactory.getLogger("dev.holdfast")).setLevel(Level.OFF);
  }

  @Test
  void no_rule_is_broken_whatever_breaks() {
    Map<String, Integer> counts = new HashMap<>();
    for (Simulator simulator : Simulator.all()) {
      LongStream.rangeClosed(1, seeds(simulator))
          .forEach(
              seed -> {
                Outcome outcome = simulator.run(seed, false);
                if (outcome.violation() != null) {
                  List<String> lines = simulator.run(seed, true).lines();
                  throw new AssertionError(
                      "%s, seed %d: %s%n%s"
                          .formatted(
                              simulator.name(),
                              seed,
                              outcome.violation(),
                              String.join(
                                  "\n",
                                  lines.subList(Math.max(0, lines.size() - LINES), lines.size()))));
                }
                outcome.counts().forEach((what, many) -> counts.merge(what, many, Integer::sum));
              });
    }
    assertThat(counts)
        .as("every fault happened, and had its effect")
        .containsKeys(
            "kill",
            "freeze",
            "cut",
            "outage",
            "database restart",
            "slow network",
            "stop",
            "cancel",
            "retry",
            "answer lost",
            "call carried out late",
            "lease reaped",
            "slept",
            "signal taken",
            "waited in vain",
            "joined",
            "decided",
            "nobody decided",
            "not allowed to decide",
            "first has ended",
            "went on before the others ended",
            "went on as another job",
            "stale settle refused");
  }

  private static int seeds(Simulator simulator) {
    int most = simulator.name().equals("workers") ? Extent.of(1_000, 3_000) : Extent.of(200, 1_000);
    return Extent.isAll() ? most : most / 5;
  }

  @Test
  void a_seed_gives_the_same_run_every_time() {
    List<List<String>> runs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      // Another loader: nothing is left of the run before.
      runs.add(Simulator.ofWorkers().run(42, true).lines());
    }
    assertThat(runs.getFirst()).hasSizeGreaterThan(100);
    assertThat(runs.getLast()).isEqualTo(runs.getFirst());
  }
}
