package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.simulation.planted.PlantedFault;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each planted fault changes a text that is in the sources, once. */
class PatchesTest {
  static List<PlantedFault> faults() {
    return PlantedFault.all();
  }

  @ParameterizedTest
  @MethodSource("faults")
  void a_planted_fault_fits_the_sources(PlantedFault fault) throws Exception {
    assertThat(fault.sources(Path.of("../.."))).isNotEmpty();
  }
}
