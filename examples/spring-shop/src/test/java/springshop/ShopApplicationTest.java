package springshop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.spring.HoldfastWorkers;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.dao.DuplicateKeyException;

// region test
/** Workers do not run: a test runs the jobs when it wants them run. */
@SpringBootTest(
    webEnvironment = WebEnvironment.RANDOM_PORT,
    properties = "holdfast.worker.enabled=false")
class ShopApplicationTest {
  @Autowired Orders orders;
  @Autowired Holdfast holdfast;
  @Autowired HoldfastWorkers workers;

  @Test
  void an_order_sends_a_mail_and_posts_an_invoice() {
    List<Enqueued> jobs = orders.place(new Order(UUID.randomUUID(), "ada@example.org", 4_200));

    workers.drain();

    assertThat(jobs)
        .extracting(job -> holdfast.find(job.id()).orElseThrow().state())
        .containsOnly(JobState.SUCCEEDED);
  }

  // endregion

  @Autowired TestRestTemplate http;

  private long jobs() {
    return holdfast.queries().statistics(Tenant.ANY).byState().values().stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  @Test
  void a_rejected_order_leaves_no_jobs() {
    Order order = new Order(UUID.randomUUID(), "ada@example.org", 4_200);
    orders.place(order);
    long before = jobs();
    assertThatThrownBy(() -> orders.place(order)).isInstanceOf(DuplicateKeyException.class);
    assertThat(jobs()).isEqualTo(before);
    workers.drain();
  }

  @Test
  void the_actuator_shows_queues_health_and_metrics() {
    assertThat(http.getForObject("/actuator/holdfast", String.class))
        .contains("\"jobs\":{", "\"queues\":[");
    assertThat(http.getForObject("/actuator/health", String.class)).contains("UP");
    assertThat(http.getForObject("/actuator/metrics", String.class))
        .contains("holdfast.queue.count", "holdfast.database.verb");
  }
}
