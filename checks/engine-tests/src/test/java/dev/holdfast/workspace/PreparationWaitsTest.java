package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PreparationWaitsTest {
  private final PreparationWaits waits = new PreparationWaits();
  private final JobId job = JobId.next();

  private List<Long> seconds(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> waits.next(job).map(Duration::toSeconds).orElse(-1L))
        .toList();
  }

  @Test
  void each_wait_in_a_row_is_longer_up_to_five_minutes() {
    assertThat(seconds(8)).containsExactly(5L, 10L, 20L, 40L, 80L, 160L, 300L, 300L);
    assertThat(waits.next(JobId.next())).hasValue(Duration.ofSeconds(5));
  }

  @Test
  void a_job_that_has_waited_a_hundred_times_fails_from_then_on() {
    assertThat(seconds(100)).doesNotContain(-1L);
    assertThat(seconds(2)).containsExactly(-1L, -1L);
  }

  @Test
  void after_an_attempt_in_its_workspace_a_job_waits_as_at_first() {
    assertThat(seconds(101)).endsWith(-1L);
    waits.end(job);
    assertThat(waits.next(job)).isEqualTo(Optional.of(Duration.ofSeconds(5)));
  }

  @Test
  void the_jobs_that_are_remembered_are_limited() {
    assertThat(seconds(3)).endsWith(20L);
    IntStream.range(0, 10_000).forEach(i -> waits.next(JobId.next()));
    assertThat(waits.next(job)).hasValue(Duration.ofSeconds(5));
  }
}
