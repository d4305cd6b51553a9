package dev.holdfast.model.value;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class Uuid7Test {
  private static final long NOON = Instant.parse("2026-03-01T12:00:00Z").toEpochMilli();

  /** Returns what the test sets. */
  private static final class SetClock extends Clock {
    private long millis = NOON;

    @Override
    public long millis() {
      return millis;
    }

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  private final SetClock clock = new SetClock();
  private final Uuid7 uuids = new Uuid7(clock);

  @Test
  void an_id_contains_its_version_variant_and_millisecond() {
    for (int i = 0; i < 1_000; i++) {
      clock.millis++;
      UUID id = uuids.next();
      assertThat(id.version()).isEqualTo(7);
      assertThat(id.variant()).isEqualTo(2);
      assertThat(millisOf(id)).isEqualTo(clock.millis);
    }
  }

  @Test
  void ids_of_one_millisecond_increase() {
    assertThat(rising(50_000)).isTrue();
  }

  @Test
  void ids_increase_when_the_clock_steps_back() {
    UUID before = uuids.next();
    clock.millis -= 3_600_000;
    UUID after = uuids.next();
    assertThat(new JobId(after)).isGreaterThan(new JobId(before));
    assertThat(rising(10_000)).isTrue();
  }

  @Test
  void ids_beyond_one_millisecond_use_the_next_and_the_clock_catches_up() {
    for (int i = 0; i < 10_000; i++) {
      uuids.next();
    }
    clock.millis += 100;
    assertThat(millisOf(uuids.next())).isEqualTo(clock.millis);
  }

  @Test
  void ids_from_many_threads_are_all_different() throws Exception {
    Set<JobId> all = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      Callable<List<JobId>> make =
          () -> {
            List<JobId> made = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
              made.add(JobId.next());
            }
            return made;
          };
      for (Future<List<JobId>> made : threads.invokeAll(List.of(make, make, make, make))) {
        assertThat(made.get()).isSorted();
        all.addAll(made.get());
      }
    }
    assertThat(all).hasSize(40_000);
  }

  @Test
  void the_last_ten_bits_are_the_cell_which_is_0_also_in_derived_ids() {
    for (int i = 0; i < 1_000; i++) {
      UUID id = uuids.next();
      assertThat(id.getLeastSignificantBits() & 0x3ff).isZero();
      assertThat(Uuid7.cell(id)).isZero();
      UUID derived = Uuid7.derived(id, "child/" + i);
      assertThat(Uuid7.cell(derived)).isZero();
      assertThat(derived.version()).isEqualTo(7);
      assertThat(derived.variant()).isEqualTo(2);
      assertThat(millisOf(derived)).isEqualTo(millisOf(id));
    }
    assertThat(Uuid7.cell(UUID.fromString("01a1dd46-efa0-7231-88cf-925231baa463")))
        .isEqualTo(0x063);
  }

  private boolean rising(int count) {
    JobId last = new JobId(uuids.next());
    for (int i = 0; i < count; i++) {
      JobId next = new JobId(uuids.next());
      if (next.compareTo(last) <= 0) {
        return false;
      }
      last = next;
    }
    return true;
  }

  private static long millisOf(UUID id) {
    return id.getMostSignificantBits() >>> 16;
  }
}
