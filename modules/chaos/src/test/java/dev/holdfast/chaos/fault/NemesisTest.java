package dev.holdfast.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class NemesisTest {
  private static List<Nemesis.Entry> schedule(List<Fault> faults, long seed) {
    return Nemesis.schedule(faults, seed, Duration.ofMinutes(2));
  }

  @Test
  void the_same_seed_gives_the_same_schedule_and_another_seed_another() {
    List<Fault> faults = Faults.all();
    assertThat(schedule(faults, 7))
        .isEqualTo(schedule(faults, 7))
        .isNotEqualTo(schedule(faults, 8));
  }

  @Test
  void a_schedule_of_two_minutes_has_every_fault() {
    List<Fault> faults = Faults.all();
    assertThat(schedule(faults, 7).stream().map(entry -> entry.fault().name()))
        .containsAll(faults.stream().map(Fault::name).toList());
  }
}
