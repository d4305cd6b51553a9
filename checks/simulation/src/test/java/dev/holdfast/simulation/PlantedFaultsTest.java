package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.planted.PlantedFault;
import dev.holdfast.simulation.planted.PlantedSearch;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Faults that are planted into the code are found; all of them by {@code ./simulate --planted}. */
@OnlyWithAll
class PlantedFaultsTest {
  private static final Path CHECKOUT = Path.of("../..");

  @BeforeAll
  static void quietly() {
    assumeThat(Scheduler.isSupported()).as("needs a JDK of 24 or newer").isTrue();
    ((Logger) LoggerFactory.getLogger("dev.holdfast")).setLevel(Level.OFF);
  }

  private static final Set<PlantedFault.Tool> EXACT =
      Set.of(PlantedFault.Tool.SIMULATION, PlantedFault.Tool.COMPARISON);

  static List<String> faults() {
    return PlantedFault.all().stream().map(PlantedFault::name).toList();
  }

  /**
   * Those of the tools that repeat a run exactly; races and rounds of a server are up to chance.
   */
  static List<String> found() {
    return PlantedFault.all().stream()
        .filter(fault -> EXACT.contains(fault.foundBy()))
        .map(PlantedFault::name)
        .toList();
  }

  @Test
  void there_are_thirty_five() {
    assertThat(faults()).hasSize(35).doesNotHaveDuplicates();
  }

  /** Otherwise a rule could be switched off, and nobody would notice. */
  @ParameterizedTest
  @CsvSource({
    "lease-loss-not-told, after it lost its lease",
    "cancel-not-told, that it is cancelled",
    "claim-with-a-short-lease, of a strict kind overlap",
    "strict-kind-released, is released while its handler runs",
    "not-released-at-the-end, has stopped and still holds",
    "waiting-job-keeps-its-place, keeps a place for job",
    "rejected-counts-as-approved, and what was decided is",
    "chain-ends-with-its-turn, ended untruthfully"
  })
  void a_planted_fault_is_found_by_the_rule_that_it_aims_at(String name, String said)
      throws Exception {
    PlantedSearch.Result result = new PlantedSearch(CHECKOUT).search(PlantedFault.named(name));
    System.out.println(result);
    assertThat(result.found()).contains(said);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "slot-released-twice",
        "scrubber-off-for-one-sink",
        "crash-not-counted",
        "signal-not-taken",
        "anybody-decides",
        "cancel-loses-against-the-next-turn",
        "next-turn-without-the-mailbox"
      })
  void a_planted_fault_is_found(String name) throws Exception {
    assertThat(new PlantedSearch(CHECKOUT).search(PlantedFault.named(name)).found()).isNotNull();
  }

  @OnlyWithRelease
  @ParameterizedTest
  @MethodSource("found")
  void a_planted_fault_is_found_by_its_tool(String name) throws Exception {
    PlantedSearch.Result result = new PlantedSearch(CHECKOUT).search(PlantedFault.named(name));
    System.out.println(result);
    assertThat(result.found()).isNotNull();
  }
}
