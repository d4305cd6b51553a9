package dev.holdfast.server.live;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Live events: snapshots, changes, topics and reconnects. */
public class LiveTest extends ServerTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  LiveTest(TestDatabase db) {
    super(db);
  }

  private LiveStream listen(String query) {
    return LiveStream.open(server.url(), query, null);
  }

  private static final Map<String, Object> SUCCEEDED =
      Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED");

  @Test
  void a_subscriber_first_gets_a_snapshot() {
    JobId job = enqueued();
    leased();
    holdfast.admin().pause("other");
    try (LiveStream live = listen("")) {
      List<LiveStream.Event> snapshot = IntStream.range(0, 6).mapToObj(i -> live.next()).toList();
      assertThat(snapshot)
          .extracting(LiveStream.Event::topic)
          .containsExactlyInAnyOrder(
              "queue:jobs",
              "queue:status",
              "queue:other:status",
              "queue:work:status",
              "worker:w1:status",
              "system:health");
      JsonNode queue = of(snapshot, "queue:work:status");
      assertThat(queue.get("queue").asText()).isEqualTo(QUEUE);
      assertThat(queue.get("running").asInt()).isEqualTo(1);
      for (String zero :
          List.of("pending", "retrying", "waiting", "delayed", "completed", "failed")) {
        assertThat(queue.get(zero).asInt()).as(zero).isZero();
      }
      assertThat(queue.get("paused").asBoolean()).isFalse();
      assertThat(queue.get("ratePerSecond").asDouble()).isZero();
      assertThat(of(snapshot, "queue:other:status").get("paused").asBoolean()).isTrue();
      assertThat(of(snapshot, "queue:status").get("running").asInt()).isEqualTo(1);
      assertThat(of(snapshot, "queue:status").get("pausedQueues").asInt()).isEqualTo(1);
      JsonNode worker = of(snapshot, "worker:w1:status");
      assertThat(worker.get("component").asText()).isEqualTo("worker:w1");
      assertThat(worker.get("status").asText()).isEqualTo("healthy");
      assertThat(worker.get("jobs").get(0).asText()).isEqualTo(job.toString());
      assertThat(worker.get("lastHeartbeat").asText()).isNotBlank();
      assertThat(of(snapshot, "system:health").get("status").asText()).isEqualTo("healthy");
      JsonNode told = of(snapshot, "queue:jobs").get("jobs").get(0);
      assertThat(told.get("id").asText()).isEqualTo(job.toString());
      assertThat(told.get("state").asText()).isEqualTo("RUNNING");
      assertThat(told.get("kind").asText()).isEqualTo("echo");
      assertThat(told.get("workerId").asText()).isEqualTo("w1");
    }
  }

  @Test
  void a_pause_of_all_workers_pauses_each_queue_also_one_that_became_empty() {
    enqueued();
    JsonNode task = leased();
    String topic = "queue:work:status";
    try (LiveStream live = listen("?topics=" + topic)) {
      assertThat(live.next().data().get("paused").asBoolean()).isFalse();
      Lease lease = new Lease(JobId.parse(task.get("taskId").asText()), 1);
      holdfast.jobs().settle(new Settlement.Succeed(lease, Json.EMPTY));
      live.next(topic, data -> data.get("running").asInt() == 0);
      holdfast.admin().pauseAllWorkers();
      LiveStream.Event paused = live.next(topic, data -> data.get("paused").asBoolean());
      assertThat(paused.data().get("workersPausedAt").asText()).isNotBlank();
      assertThat(paused.data().has("pausedAt")).isFalse();
      holdfast.admin().resumeAllWorkers();
      live.next(topic, data -> !data.get("paused").asBoolean());
    }
  }

  @Test
  void new_output_of_a_program_publishes_the_id_of_its_job() {
    enqueued();
    JsonNode task = leased();
    Lease lease = new Lease(JobId.parse(task.get("taskId").asText()), 1);
    try (LiveStream live = listen("?topics=queue:logs,queue:jobs")) {
      live.next();
      for (String text : List.of("one\n", "one\ntwo\n")) {
        holdfast.jobs().report(List.of(new Report.Log(lease, 1, text)));
        LiveStream.Event told = live.next();
        assertThat(told.topic()).isEqualTo("queue:logs");
        assertThat(told.data().get("jobs")).hasSize(1);
        assertThat(told.data().get("jobs").get(0).asText()).isEqualTo(lease.job().toString());
      }
    }
  }

  private static JsonNode of(List<LiveStream.Event> events, String topic) {
    return events.stream()
        .filter(event -> event.topic().equals(topic))
        .findFirst()
        .orElseThrow()
        .data();
  }

  @Test
  void a_subscriber_then_gets_changes_and_nothing_else() {
    try (LiveStream live = listen("")) {
      live.next("system:health");
      String job = enqueued().toString();
      live.job(job, "PENDING");
      live.next("queue:work:status", data -> data.get("pending").asInt() == 1);
      JsonNode task = leased();
      live.job(job, "RUNNING");
      live.next("worker:w1:status", data -> data.get("runningJobs").asInt() == 1);
      callback(
          task,
          "heartbeat",
          Map.of("attempt", 1, "workerId", "w1", "progressPct", 45, "message", "nearly half"));
      LiveStream.Event beat = live.job(job, "RUNNING");
      assertThat(beat.data().get("jobs").get(0).get("progress").asInt()).isEqualTo(45);
      assertThat(beat.data().get("jobs").get(0).get("progressMessage").asText())
          .isEqualTo("nearly half");
      callback(task, "completed", SUCCEEDED).ok();
      live.job(job, "SUCCEEDED");
      JsonNode queue =
          live.next("queue:work:status", data -> data.get("completed").asInt() == 1).data();
      assertThat(queue.get("running").asInt()).isZero();
      assertThat(queue.get("averageRunMs").asLong()).isNotNegative();
      assertThat(queue.get("ratePerSecond").asDouble()).isPositive();
      assertThat(queue.get("emptyInMs").asLong()).isZero();
      live.next("worker:w1:status", data -> data.get("status").asText().equals("idle"));

      String second = enqueued().toString();
      live.job(second, "PENDING");
      // Even if the database was slow meanwhile, no event repeats the one before it.
      List<JsonNode> health =
          live.all().stream()
              .filter(event -> event.topic().equals("system:health"))
              .map(LiveStream.Event::data)
              .toList();
      for (int i = 1; i < health.size(); i++) {
        assertThat(health.get(i)).isNotEqualTo(health.get(i - 1));
      }
      assertThat(
              live.all().stream()
                  .filter(event -> event.topic().equals("queue:jobs"))
                  .filter(event -> event.data().toString().contains(job)))
          .hasSize(4);
    }
  }

  @Test
  void the_requeue_of_a_job_is_published() {
    JobId job = enqueued();
    leased();
    try (LiveStream live = listen("?topics=queue:jobs,worker:*,system:health")) {
      live.job(job.toString(), "RUNNING");
      live.next("worker:w1:status");
      db.expireLeases();
      live.next("worker:w1:status", data -> data.get("status").asText().equals("crashed"));
      LiveStream.Event health =
          live.next("system:health", data -> data.get("status").asText().equals("degraded"));
      assertThat(health.data().get("reasons").get(0).get("code").asText())
          .isEqualTo("worker_silent");
      holdfast.store().maintenance().reap(Duration.ZERO);
      live.job(job.toString(), "PENDING");
      live.next("system:health", data -> data.get("status").asText().equals("healthy"));
    }
  }

  @Test
  void a_queue_without_workers_degrades_the_health() {
    JobId job = enqueued();
    db.sql("UPDATE holdfast.job SET run_at = now() - interval '2 minutes'");
    try (LiveStream live = listen("?topics=system:*")) {
      JsonNode health = live.next().data();
      assertThat(health.get("status").asText()).isEqualTo("degraded");
      assertThat(health.get("reasons").get(0).get("message").asText()).contains("'work'");
      holdfast.cancel(job, "no longer needed");
      live.next("system:health", data -> data.get("status").asText().equals("healthy"));
    }
  }

  @Test
  void topics_are_chosen_with_wildcards() {
    enqueued();
    try (LiveStream queues = listen("?topics=queue:*:status");
        LiveStream two = listen("?topics=system:health,queue:work:status")) {
      assertThat(queues.next().topic()).isEqualTo("queue:work:status");
      assertThat(List.of(two.next().topic(), two.next().topic()))
          .containsExactlyInAnyOrder("system:health", "queue:work:status");
      enqueued();
      assertThat(queues.next().topic()).isEqualTo("queue:work:status");
      assertThat(two.next().topic()).isEqualTo("queue:work:status");
    }
  }

  @Test
  void a_topic_that_does_not_exist_is_refused() {
    client.get("/v1/events?topics=queues", null).is(422, "unknown_topic");
    client.get("/v1/events?topics=queue:*,", null).is(422, "unknown_topic");
    client.get("/v1/events?topic=queue:*", null).is(422, "unknown_parameter");
    client.get("/v1/events?topics=" + "*,".repeat(60) + "*", null).is(422, "invalid_value");
  }

  @Test
  void a_subscriber_that_reconnects_continues_where_it_was() {
    String last;
    try (LiveStream live = listen("?topics=queue:*")) {
      live.next("queue:status");
      String first = enqueued().toString();
      live.job(first, "PENDING");
      last = live.next("queue:work:status").id();
    }
    String second = enqueued().toString();
    try (LiveStream live = LiveStream.resume(server.url(), "?topics=queue:*", last)) {
      LiveStream.Event next = live.next();
      assertThat(next.topic()).isNotEqualTo("reset");
      assertThat(number(next)).isGreaterThan(number(last));
      while (!next.data().toString().contains(second)) {
        LiveStream.Event after = live.next();
        assertThat(number(after)).isEqualTo(number(next) + 1);
        next = after;
      }
      assertThat(next.data().get("jobs")).hasSize(1);
      assertThat(live.all()).extracting(LiveStream.Event::topic).doesNotContain("reset");
    }
    try (LiveStream live = listen("?topics=queue:jobs&lastEventId=" + last)) {
      assertThat(live.next().data().toString()).contains(second);
    }
  }

  private static long number(LiveStream.Event event) {
    return number(event.id());
  }

  private static long number(String id) {
    return Long.parseLong(id.substring(id.lastIndexOf('-') + 1));
  }

  @Test
  void a_subscriber_with_an_unknown_event_id_is_reset() {
    for (String id : List.of("a1b2c3-42", "nonsense", "", "a1b2c3a1b2c3-")) {
      try (LiveStream live = LiveStream.resume(server.url(), "?topics=queue:status", id)) {
        LiveStream.Event reset = live.next();
        assertThat(reset.topic()).isEqualTo("reset");
        assertThat(reset.data().get("reason").asText()).isEqualTo("unknown_id");
        LiveStream.Event snapshot = live.next();
        assertThat(snapshot.topic()).isEqualTo("queue:status");
        // A number that this feed has not reached is unknown.
        String ahead = snapshot.id().substring(0, snapshot.id().lastIndexOf('-')) + "-99999";
        try (LiveStream again = LiveStream.resume(server.url(), "?topics=queue:status", ahead)) {
          assertThat(again.next().topic()).isEqualTo("reset");
        }
      }
    }
  }

  @Test
  void a_tenant_gets_events_of_its_own_jobs_only() {
    key(Role.ADMIN, null);
    String ours = key(Role.VIEWER, "ours");
    String all = key(Role.VIEWER, null);
    try (LiveStream live = LiveStream.open(server.url(), "", ours);
        LiveStream everything = LiveStream.open(server.url(), "", all)) {
      live.next("system:health");
      String theirs =
          holdfast.enqueue(Job.of("secret").queue("hidden").owner("theirs", "w")).id().toString();
      everything.job(theirs, "PENDING");
      String mine =
          holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("ours", "w")).id().toString();
      live.job(mine, "PENDING");
      live.next("queue:work:status", data -> data.get("pending").asInt() == 1);
      holdfast.jobs().claim(new ClaimRequest("hidden", 1, "spy", MINUTE));
      holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "worker:work:0@host.1", MINUTE));
      JsonNode worker = live.next("worker:work:0:status").data();
      assertThat(worker.get("workerId").asText()).isEqualTo("worker:work:0@host.1");
      JsonNode sums =
          everything.next("queue:status", data -> data.get("running").asInt() == 2).data();
      assertThat(sums.get("queues").asInt()).isEqualTo(2);
      // In either order: the two claims may fall on either side of a poll.
      everything.heard("worker:spy:status");
      assertThat(live.all().toString()).doesNotContain(theirs, "hidden", "secret", "spy");
      assertThat(live.all())
          .filteredOn(event -> event.topic().equals("queue:status"))
          .allSatisfy(event -> assertThat(event.data().get("queues").asInt()).isLessThan(2));
    }
  }

  @Test
  void a_worker_name_cannot_forge_a_topic() {
    for (String name : List.of("system:health", "queue:status", "worker:x\ndata: {}")) {
      enqueued();
      assertThat(holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, name, MINUTE)).jobs()).hasSize(1);
    }
    try (LiveStream live = listen("?topics=worker:*,system:health")) {
      List<LiveStream.Event> snapshot = IntStream.range(0, 4).mapToObj(i -> live.next()).toList();
      assertThat(snapshot)
          .extracting(LiveStream.Event::topic)
          .containsExactlyInAnyOrder(
              "worker:queue:status:status",
              "worker:system:health:status",
              "worker:x?data: {}:status",
              "system:health");
      assertThat(of(snapshot, "system:health").get("status").asText()).isEqualTo("healthy");
    }
  }

  @Test
  void subscribing_requires_a_key() {
    key(Role.ADMIN, null);
    client.get("/v1/events", null).is(401, "key_missing");
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void outages_of_the_database_and_their_end_are_published() {
    try (FaultProxy proxy = FaultProxy.before(db);
        Holdfast through = Holdfast.on(db.dataSource(proxy, 4));
        HoldfastServer far = HoldfastServer.start(through, ServerOptions.DEFAULT.port(0));
        LiveStream live = LiveStream.open(far.url(), "", null)) {
      live.next("system:health", data -> data.get("status").asText().equals("healthy"));
      proxy.cut();
      JsonNode health =
          live.next("system:health", data -> data.get("status").asText().equals("error")).data();
      assertThat(health.get("reasons").get(0).get("code").asText())
          .isEqualTo("database_unavailable");
      assertThat(health.toString()).doesNotContain("127.0.0.1", db.name());
      String job = enqueued().toString();
      proxy.mend();
      live.job(job, "PENDING");
      live.next("system:health", data -> data.get("status").asText().equals("healthy"));
      proxy.freeze();
      live.next("system:health", data -> data.get("status").asText().equals("error"));
      proxy.thaw();
      live.next("system:health", data -> data.get("status").asText().equals("healthy"));
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void the_database_is_not_polled_without_subscribers() {
    AtomicInteger looks = new AtomicInteger();
    JobStore.Options counting =
        new JobStore.Options(
            8,
            (verb, took, error) -> {
              if (verb.equals("changes")) {
                looks.incrementAndGet();
              }
            });
    try (Holdfast counted = Holdfast.on(db.dataSource(), new JacksonCodec(), counting);
        HoldfastServer quiet = HoldfastServer.start(counted, ServerOptions.DEFAULT.port(0))) {
      assertThat(looks).hasValue(0);
      try (LiveStream live = LiveStream.open(quiet.url(), "", null)) {
        live.next("system:health");
        assertThat(looks).hasPositiveValue();
      }
      // A closed connection is noticed with the next event written to it.
      AtomicInteger before = new AtomicInteger(-1);
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofSeconds(3))
          .until(
              () -> {
                enqueued();
                return before.getAndSet(looks.get()) == looks.get();
              });
    }
  }
}
