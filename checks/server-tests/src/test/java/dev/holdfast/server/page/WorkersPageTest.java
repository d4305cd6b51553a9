package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Workers with and without supervisors, on the pages of queues and on their own. */
@OnlyWithAll
class WorkersPageTest extends InBrowser {
  WorkersPageTest(TestDatabase db) {
    super(db);
  }

  private CompletableFuture<Integer> polls(String worker, int ms) {
    return CompletableFuture.supplyAsync(
        () ->
            client
                .post(
                    "/v1/queues/" + QUEUE + "/lease",
                    Map.of("workerId", worker, "waitMs", ms),
                    null)
                .status());
  }

  @Test
  void a_queue_lists_the_workers_that_ask_for_its_tasks_over_http() {
    client.patch("/v1/queues/work/limits", Map.of("maxRunning", 7), null).ok();
    open("#/queues/work");
    browser.awaitText("No worker serves it");
    CompletableFuture<Integer> idle = polls("py-1", 20_000);
    browser.awaitText("worker:py-1", "healthy");
    browser.awaitElement("a[href='#/workers/py-1']").click();
    browser.awaitText("It runs no job.", "Supervisor", "none", "py-1");
    assertThat(browser.text()).doesNotContain("Restarts and stops", "no such worker");
    browser.go("#/workers");
    browser.awaitText("worker:py-1", "work", "no supervisor");
    for (int width : new int[] {1400, 400}) {
      browser.width(width);
      browser.picture(Path.of("target", "pictures", "workers-%d.png".formatted(width)));
      assertThat(browser.overflow()).isLessThanOrEqualTo(0);
    }
    enqueued();
    assertThat(idle.join()).isEqualTo(200);
    browser.go("#/workers/py-1");
    browser.awaitText("Running now 1");
  }

  @Test
  void a_worker_that_asks_no_more_is_gone_and_not_healthy() {
    client.patch("/v1/queues/work/limits", Map.of("maxRunning", 7), null).ok();
    assertThat(polls("py-2", 0).join()).isEqualTo(200);
    open("#/queues/work");
    browser.awaitText("worker:py-2", "healthy");
    db.sql("UPDATE holdfast.worker_poll SET expires_at = now()");
    browser.awaitText("No worker serves it");
    browser.go("#/workers/py-2");
    browser.awaitText("There is no such worker");
    assertThat(browser.text()).doesNotContain("supervisor has ended");
  }

  @Test
  void the_address_of_a_worker_needs_no_supervisor_where_there_is_one_of_its_name() {
    supervised(HealthStatus.HEALTHY);
    open("#/workers/worker:work:0");
    browser.awaitText("healthy", "4711", "here", "Restarts and stops");
    browser.go("#/workers/worker:work:0?supervisor=here");
    browser.awaitText("Restarts and stops");
    browser.go("#/workers/worker:work:0?supervisor=gone");
    browser.awaitText("Supervisor gone has ended, or does not run this worker any more.");
    WorkerProcesses.Place there = new WorkerProcesses.Place("there", "worker:work:0", 1);
    holdfast
        .store()
        .workers()
        .supervisors()
        .appear(new Supervisors.Supervising("there", "host2", 1, Instant.EPOCH));
    holdfast.store().workers().processes().starting(there, 0, false);
    open("#/workers/worker:work:0");
    browser.awaitText("Several workers have this name", "of supervisor there");
    browser.awaitElement("main li a[href$='supervisor=there']").click();
    browser.awaitText("starting", "Restarts and stops");
  }
}
