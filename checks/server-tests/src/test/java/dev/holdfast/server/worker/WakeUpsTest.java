package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.http.ClientWatch;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.worker.LongPollBroker.Line;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

public class WakeUpsTest extends ServerTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Line LINE = new Line(QUEUE, Tenant.ANY);

  private final DatabaseSubscription subscription =
      holdfast.store().notifier().subscribeToDatabase();
  private WakeUps wakeUps = new WakeUps(subscription);

  WakeUpsTest(TestDatabase db) {
    super(db);
  }

  @AfterEach
  void closeAll() {
    wakeUps.close();
    subscription.close();
  }

  private CompletableFuture<List<Line>> waiting(String name, Duration timeout) {
    int before = wakeUps.waiting();
    CompletableFuture<List<Line>> woken =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return wakeUps.await(name, Set.of(LINE), timeout, ClientWatch.NONE);
              } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
              }
            },
            Executors.newVirtualThreadPerTaskExecutor());
    until(() -> wakeUps.waiting() > before || woken.isDone());
    return woken;
  }

  private static List<Line> get(CompletableFuture<List<Line>> woken) throws Exception {
    return woken.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  /** Returns once notifications arrive, and those from before are over. */
  private void quiet() throws Exception {
    get(waiting("first", LONG));
    wakeUps.claimed(LINE, System.nanoTime(), false);
  }

  @Test
  void a_notification_wakes_only_the_longest_waiter() throws Exception {
    wakeUps.close();
    // However slow the machine is, the claim of a woken waiter does not time out.
    wakeUps = new WakeUps(subscription, LONG);
    quiet();
    List<CompletableFuture<List<Line>>> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(waiting("w" + i, LONG));
    }
    long since = System.nanoTime();
    enqueued();
    assertThat(get(all.getFirst())).containsExactly(LINE);
    // It claims, and there is nothing more: the others wait on.
    wakeUps.claimed(LINE, since + LONG.toNanos(), false);
    assertThat(wakeUps.waiting()).isEqualTo(4);
    enqueued();
    assertThat(get(all.get(1))).containsExactly(LINE);
  }

  @Test
  void if_the_woken_waiter_does_not_claim_another_is_woken() throws Exception {
    quiet();
    CompletableFuture<List<Line>> full = waiting("full", LONG);
    CompletableFuture<List<Line>> free = waiting("free", LONG);
    enqueued();
    assertThat(get(full)).containsExactly(LINE);
    assertThat(get(free)).containsExactly(LINE);
    // Each is woken once: a worker without a free slot is not woken repeatedly.
    assertThat(wakeUps.await("full", Set.of(LINE), Duration.ofMillis(300), ClientWatch.NONE))
        .isEmpty();
  }

  @Test
  void a_full_claim_wakes_the_next_waiter() throws Exception {
    quiet();
    CompletableFuture<List<Line>> next = waiting("next", LONG);
    wakeUps.claimed(LINE, System.nanoTime(), true);
    assertThat(get(next)).containsExactly(LINE);
  }

  @Test
  void a_wake_up_without_waiters_is_kept_for_the_next_one() throws Exception {
    quiet();
    long before = System.nanoTime();
    enqueued();
    // A claim that began before the notification does not answer it.
    wakeUps.claimed(LINE, before, false);
    assertThat(get(waiting("late", LONG))).containsExactly(LINE);
  }

  @Test
  void a_long_poll_that_times_out_is_answered_and_a_stopping_server_answers_all() throws Exception {
    quiet();
    assertThat(wakeUps.await("patient", Set.of(LINE), Duration.ofMillis(50), ClientWatch.NONE))
        .isEmpty();
    CompletableFuture<List<Line>> last = waiting("last", LONG);
    wakeUps.close();
    assertThat(get(last)).isEmpty();
    assertThatThrownBy(() -> wakeUps.await("late", Set.of(LINE), LONG, ClientWatch.NONE))
        .isInstanceOf(Problem.class);
  }

  @Test
  void over_http_the_response_names_the_queue() {
    enqueued();
    Map<String, Object> question =
        Map.of("workerId", "w1", "queues", List.of("other", QUEUE), "waitMs", 30_000);
    // The first ones are for having begun to listen to each.
    until(
        () -> {
          var queues = client.post("/v1/queues/wait", question, null).ok().get("queues");
          return queues.size() == 1 && queues.get(0).asText().equals(QUEUE);
        });
    client
        .post("/v1/queues/wait", Map.of("workerId", "w1", "queues", List.of(), "waitMs", 1), null)
        .is(422, "invalid_value");
    client
        .post(
            "/v1/queues/wait",
            Map.of("workerId", "w1", "queues", List.of("no spaces"), "waitMs", 1),
            null)
        .is(422, "bad_name");
  }
}
