package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldWithinTest extends QueueFixture {
  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void an_attempt_that_succeeded_is_known_for_as_long_as_it_is_asked_for() {
    Lease lease = running();
    assertThat(queries.heldWithin(lease, Duration.ZERO)).isTrue();
    queue.settle(new Settlement.Succeed(lease, null));
    assertThat(queries.heldWithin(lease, HOUR)).isTrue();
    set(lease.job(), "finished_at = finished_at - interval '2 hours'");
    assertThat(queries.heldWithin(lease, HOUR)).isFalse();
    assertThat(queries.heldWithin(lease, HOUR.multipliedBy(3))).isTrue();
  }

  @Test
  void an_attempt_that_was_released_long_ago_did_not_end_with_its_job() {
    Lease lease = running();
    queue.settle(List.of(new Settlement.Release(lease, false)));
    assertThat(queries.heldWithin(lease, HOUR)).isTrue();
    db.sql(
        "UPDATE holdfast.attempt SET ended_at = ended_at - interval '2 hours' WHERE job_id = ?",
        lease.job().value());
    queue.cancel(List.of(lease.job()), false, "not needed", Tenant.ANY);
    assertThat(status(lease.job()).finishedAt()).isNotNull();
    assertThat(queries.heldWithin(lease, HOUR)).isFalse();
  }
}
