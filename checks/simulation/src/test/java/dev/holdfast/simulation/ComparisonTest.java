package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.model.value.RefusedException;
import dev.holdfast.simulation.compare.Comparison;
import dev.holdfast.simulation.compare.Races;
import dev.holdfast.simulation.compare.RandomCalls;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.simulation.trace.Call;
import dev.holdfast.testkit.Extent;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** Otherwise a fault there would be compared with nothing. */
  @Test
  void random_calls_meet_every_end_of_a_wait_and_every_answer_to_a_decision() {
    Set<String> met = new HashSet<>();
    for (long seed = 1; seed <= 14; seed++) {
      List<Call> calls = RandomCalls.of(seed, 200);
      calls.stream()
          .filter(call -> VerbText.verb(call) instanceof Verb.Decide)
          .forEach(call -> met.add(call.answer()));
      calls.stream()
          .filter(call -> call.answer().startsWith("refuses"))
          .forEach(call -> met.add(call.answer()));
      AtomicLong now = new AtomicLong();
      ModelQueue model = new ModelQueue(new PlainCodec(), now::get);
      for (Call call : calls) {
        now.set(call.micros());
        try {
          model.answer(VerbText.verb(call));
        } catch (RefusedException compared) {
          // It is the answer.
        }
      }
      for (String row : model.rows()) {
        Matcher ended = Pattern.compile(":([A-Z]{4,})(/by)?").matcher(row);
        while (ended.find()) {
          met.add(ended.group());
        }
      }
    }
    assertThat(met)
        .contains("ACCEPTED", "NOT_ASKED", "NOT_ALLOWED", "refuses BAD_DEPENDENCY")
        .contains(":TIME", ":SIGNAL", ":TIMEOUT", ":ENDED", ":FAILED", ":STARTED")
        .contains(":APPROVED", ":REJECTED", ":APPROVED/by", ":REJECTED/by");
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
