package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobTest {
  private final Job job = Job.of("send-mail", new Json("{\"to\":\"a\"}"));

  @Test
  void a_job_begins_with_the_defaults_of_the_specification() {
    assertThat(job.kind()).isEqualTo("send-mail");
    assertThat(job.payload()).isEqualTo(new Json("{\"to\":\"a\"}"));
    assertThat(job.queue()).isEqualTo("default");
    assertThat(job.priority()).isEqualTo(5);
    assertThat(job.delay()).isZero();
    assertThat(job.runAt()).isNull();
    assertThat(job.maxAttempts()).isNull();
    assertThat(job.maxCrashes()).isEqualTo(2);
    assertThat(job.timeout()).isNull();
    assertThat(job.deadline()).isNull();
    assertThat(job.tenant()).isEqualTo("default");
    assertThat(job.workspace()).isEqualTo("default");
    assertThat(job.run()).isEqualTo(job.id());
    assertThat(job.runKey()).isEqualTo("send-mail");
    assertThat(job.parent()).isNull();
    assertThat(job.unique()).isNull();
    assertThat(job.concurrencyKey()).isNull();
    assertThat(job.concurrencyLimit()).isEqualTo(1);
    assertThat(job.hasAttributes()).isFalse();
    assertThat(Job.of("ping").payload()).isEqualTo(Json.EMPTY);
  }

  @Test
  void a_setter_returns_a_new_job_with_the_same_id() {
    Job other = job.queue("mail").priority(0).maxAttempts(1).maxCrashes(0);
    assertThat(other.id()).isEqualTo(job.id());
    assertThat(other.queue()).isEqualTo("mail");
    assertThat(job.queue()).isEqualTo("default");
    assertThat(job.priority()).isEqualTo(5);
  }

  @Test
  void every_job_has_its_own_id_unless_given() {
    assertThat(Job.of("a").id()).isLessThan(Job.of("a").id());
    JobId id = JobId.next();
    assertThat(job.id(id).id()).isEqualTo(id);
    assertThat(job.id(id).run()).isEqualTo(id);
  }

  @Test
  void the_last_set_of_delay_and_due_time_replaces_the_other() {
    Instant moment = Instant.parse("2030-01-01T00:00:00Z");
    Job moved = job.delay(Duration.ofHours(1)).runAt(moment);
    assertThat(moved.runAt()).isEqualTo(moment);
    assertThat(moved.delay()).isZero();
    assertThat(moved.delay(Duration.ofHours(2)).runAt()).isNull();
  }

  @Test
  void a_job_may_belong_to_a_run_a_parent_and_an_owner() {
    JobId run = JobId.next();
    JobId parent = JobId.next();
    Job child = job.run(run, "step-1").parent(parent).owner("acme", "blue");
    assertThat(child.run()).isEqualTo(run);
    assertThat(child.runKey()).isEqualTo("step-1");
    assertThat(child.parent()).isEqualTo(parent);
    assertThat(child.tenant()).isEqualTo("acme");
    assertThat(child.workspace()).isEqualTo("blue");
  }

  @Test
  void invalid_names_and_keys_are_refused_at_once() {
    assertRefused(Refusal.BAD_NAME, () -> Job.of("no spaces"));
    assertRefused(Refusal.BAD_NAME, () -> job.queue("a:b"));
    assertRefused(Refusal.BAD_NAME, () -> job.owner("", "x"));
    assertRefused(Refusal.BAD_NAME, () -> job.owner("x", "-"));
    assertRefused(Refusal.BAD_KEY, () -> job.run(JobId.next(), " "));
    assertRefused(Refusal.BAD_KEY, () -> job.uniqueKey(""));
    assertRefused(Refusal.BAD_KEY, () -> job.concurrencyKey("", 1));
  }

  @Test
  void priority_is_between_zero_and_nine() {
    assertThat(job.priority(9).priority()).isEqualTo(9);
    assertRefused(Refusal.BAD_PRIORITY, () -> job.priority(10));
    assertRefused(Refusal.BAD_PRIORITY, () -> job.priority(-1))
        .hasMessage("priority -1 must be between 0 (first) and 9 (last); the default is 5");
  }

  @Test
  void times_out_of_range_are_refused() {
    assertRefused(Refusal.BAD_DELAY, () -> job.delay(Duration.ofSeconds(-1)))
        .hasMessageStartingWith("delay PT-1S");
    assertRefused(Refusal.BAD_DELAY, () -> job.delay(Duration.ofDays(36_501)));
    assertRefused(Refusal.BAD_DELAY, () -> job.runAt(Instant.MAX));
    assertRefused(Refusal.BAD_DELAY, () -> job.runAt(Instant.EPOCH.minusMillis(1)));
    assertRefused(Refusal.BAD_TIMING, () -> job.timeout(Duration.ZERO));
    assertRefused(Refusal.BAD_TIMING, () -> job.timeout(Duration.ofNanos(5)));
    assertRefused(Refusal.BAD_TIMING, () -> job.timeout(Duration.ofSeconds(Long.MIN_VALUE)));
    assertRefused(Refusal.BAD_TIMING, () -> job.timeout(Duration.ofSeconds(Long.MAX_VALUE)));
    assertRefused(Refusal.BAD_TIMING, () -> job.deadline(Instant.MIN));
  }

  @Test
  void budgets_and_limits_are_bounded() {
    assertRefused(Refusal.BAD_BUDGET, () -> job.maxAttempts(0))
        .hasMessage("maxAttempts 0 must be between 1 and 1,000");
    assertRefused(Refusal.BAD_BUDGET, () -> job.maxAttempts(1_001));
    assertRefused(Refusal.BAD_BUDGET, () -> job.maxCrashes(-1));
    assertRefused(Refusal.BAD_LIMIT, () -> job.concurrencyKey("k", 0));
    assertThat(job.concurrencyKey("k", 3).concurrencyLimit()).isEqualTo(3);
  }

  @Test
  void a_unique_key_is_held_until_the_job_has_ended_by_default() {
    Unique unique = Unique.by("order-1");
    assertThat(unique.states()).isEqualTo(JobState.ACTIVE);
    assertThat(unique.window()).isNull();
    assertThat(job.uniqueKey("order-1").unique()).isEqualTo(unique);
    assertThat(unique.in(Set.of(JobState.PENDING)).within(Duration.ofHours(1)))
        .isEqualTo(new Unique("order-1", Set.of(JobState.PENDING), Duration.ofHours(1)));
  }

  @Test
  void a_unique_key_that_no_new_job_would_hold_is_refused() {
    Unique unique = Unique.by("k");
    assertRefused(Refusal.BAD_UNIQUE, () -> unique.in(Set.of(JobState.RUNNING)))
        .hasMessageContaining("must include PENDING");
    assertRefused(Refusal.BAD_UNIQUE, () -> unique.within(Duration.ZERO));
    assertRefused(Refusal.BAD_UNIQUE, () -> unique.within(Duration.ofSeconds(-1)));
    assertRefused(Refusal.BAD_UNIQUE, () -> unique.within(Duration.ofSeconds(Long.MAX_VALUE)));
  }
}
