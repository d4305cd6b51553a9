package dev.holdfast.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NemesisTest {
  private static List<Nemesis.Entry> schedule(List<Fault> faults, long seed) {
    return Nemesis.schedule(faults, seed, Duration.ofMinutes(2), 60);
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

  @Test
  void a_fault_that_never_happened_breaks_a_rule_only_if_it_had_ten_turns() {
    List<Fault> faults = Faults.all().subList(0, 2);
    String never = faults.getFirst().name();
    Map<String, Integer> happened = Map.of(never, 0, faults.getLast().name(), 7);
    List<Nemesis.Entry> schedule =
        Nemesis.schedule(faults, 7, Duration.ofMinutes(1), 60).stream()
            .filter(entry -> entry.fault().name().equals(never))
            .toList();
    assertThat(Nemesis.finding(schedule.subList(0, 9), happened).holds()).isTrue();
    assertThat(Nemesis.finding(schedule.subList(0, 10), happened).violations())
        .containsExactly(never + " did not");
    assertThat(Nemesis.finding(schedule.subList(0, 10), Map.of(never, 1)).holds()).isTrue();
  }

  @Test
  void a_schedule_has_as_many_faults_a_minute_as_were_asked_for_and_some_more_often() {
    Fault rare = Faults.all().getFirst();
    Fault often = Faults.all().getLast();
    List<Nemesis.Entry> schedule =
        Nemesis.schedule(List.of(rare, often, often, often), 7, Duration.ofMinutes(100), 20);
    assertThat(schedule).hasSizeBetween(1_900, 2_100);
    assertThat(schedule.stream().filter(entry -> entry.fault().equals(often)))
        .hasSizeBetween(schedule.size() * 3 / 4 - 3, schedule.size() * 3 / 4 + 3);
  }
}
