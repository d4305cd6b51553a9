package dev.holdfast.queue.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.health.WorkerPolls.Poll;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerPollsTest extends WorkerRegistryFixture {
  private static final Duration SOON = Duration.ofMinutes(1);

  private WorkerPolls polls() {
    return health.polls();
  }

  private List<String> live(@Nullable String tenant) {
    return polls().live(Tenant.of(tenant)).stream().map(Poller::worker).toList();
  }

  @Test
  void a_worker_is_known_with_its_queues_until_its_polls_expire() {
    polls()
        .write(
            List.of(
                new Poll("w1", "mail", Tenant.ANY, SOON),
                new Poll("w1", "mail", Tenant.ANY, Duration.ZERO),
                new Poll("w1", "fax", Tenant.of("acme"), SOON),
                new Poll("gone", "mail", Tenant.ANY, Duration.ZERO)));
    assertThat(polls().live(Tenant.ANY))
        .singleElement()
        .satisfies(
            poller -> {
              assertThat(poller.worker()).isEqualTo("w1");
              assertThat(poller.queues()).containsExactly("fax", "mail");
            });
    polls().write(List.of(new Poll("w1", "mail", Tenant.ANY, Duration.ZERO)));
    assertThat(polls().live(Tenant.ANY).getFirst().queues()).containsExactly("fax");
    polls().write(List.of(new Poll("w1", "fax", Tenant.of("acme"), Duration.ZERO)));
    assertThat(polls().live(Tenant.ANY)).isEmpty();
  }

  @Test
  void a_tenant_sees_only_the_workers_that_ask_for_its_jobs() {
    polls()
        .write(
            List.of(
                new Poll("all", "mail", Tenant.ANY, SOON),
                new Poll("hers", "mail", Tenant.of("acme"), SOON),
                new Poll("his", "mail", Tenant.of("other"), SOON)));
    assertThat(live("acme")).containsExactly("hers");
    assertThat(live(null)).containsExactly("all", "hers", "his");
  }

  @Test
  void rows_of_workers_that_went_long_ago_are_deleted() {
    polls().write(List.of(new Poll("gone", "mail", Tenant.ANY, Duration.ZERO)));
    db.sql("UPDATE holdfast.worker_poll SET expires_at = expires_at - interval '6 minutes'");
    polls().write(List.of(new Poll("w1", "mail", Tenant.ANY, SOON)));
    assertThat(db.count("SELECT count(*) FROM holdfast.worker_poll")).isEqualTo(1);
  }
}
