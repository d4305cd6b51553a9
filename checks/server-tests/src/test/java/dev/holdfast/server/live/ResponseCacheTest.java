package dev.holdfast.server.live;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.ApiTest;
import dev.holdfast.server.Client;
import dev.holdfast.server.Flow;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.RunningServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.page.OpenPageTest;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Many open pages cause no more database queries than a few. */
@OnlyWithRelease
public class ResponseCacheTest extends ApiTest {
  /** The requests that each page repeats; {@link OpenPageTest} checks that these are all. */
  public static final List<List<String>> VIEWS =
      List.of(
          List.of(
              "/v1/history?minutes=15",
              "/v1/info",
              "/v1/jobs/count?state=FAILED",
              "/v1/jobs?state=RUNNING&brief=true&limit=12"),
          List.of("/v1/queues"),
          List.of("/v1/jobs?limit=50", "/v1/jobs/counts"),
          List.of("/v1/workers"),
          List.of("/v1/info"),
          List.of("/v1/failures"),
          List.of("/v1/schedules"),
          List.of("/v1/runs?limit=50"),
          List.of("/v1/notices?limit=200"),
          List.of(
              "/v1/jobs/JOB?include=events,attempts,steps,artifacts,dependencies",
              "/v1/jobs/JOB/log"));

  private static final String SHARED = "max-age=2";
  private static final int PAGES = 50;
  private static final int ROUNDS = 6;

  // Set by startServer, which the constructor calls; so it must not be set here.
  private AtomicLong looks;

  ResponseCacheTest(TestDatabase db) {
    super(db);
  }

  /** A server whose database calls are counted, and only its own. */
  @Override
  public RunningServer startServer() {
    AtomicLong counted = new AtomicLong();
    looks = counted;
    Holdfast observed =
        Holdfast.on(
            db.dataSource(db.url(), 10),
            new JacksonCodec(),
            new JobStore.Options(8, (verb, took, error) -> counted.incrementAndGet()));
    HoldfastServer started = HoldfastServer.start(observed, ServerOptions.DEFAULT.port(0));
    return new RunningServer(
        started.url(),
        () -> {
          started.close();
          observed.close();
        });
  }

  private Client.Reply get(String path, @Nullable String maxAge, @Nullable String key) {
    var request = client.request(path, key);
    return client.send((maxAge == null ? request : request.header("Cache-Control", maxAge)).GET());
  }

  // ---- load

  @Test
  void fifty_open_pages_cost_the_database_no_more_than_a_few() throws Exception {
    JobId job = holdfast.enqueue(Job.of("echo").queue("other")).id();
    try (Flow flowing = Flow.of(holdfast, "flow")) {
      storm(VIEWS.size(), job, 1);
      Storm few = storm(VIEWS.size(), job, ROUNDS);
      Storm many = storm(PAGES, job, ROUNDS);
      assertThat(flowing).isNotNull();
      assertThat(few.looks()).isPositive();
      // Without the cache it would be eight times as much. A busy machine takes longer.
      double longer = Math.max(1, many.seconds() / few.seconds());
      assertThat((double) many.looks())
          .as("looks for many: %s, few: %s", many, few)
          .isLessThan(2 * longer * few.looks() + 50);
    }
  }

  /** The number of database calls of the server, and their duration. */
  private record Storm(long looks, double seconds) {}

  /** This many pages send requests, each more often than a real page. */
  private Storm storm(int pages, JobId job, int rounds) throws Exception {
    // One client may have only as many streams as pages here; earlier ones must have ended.
    await()
        .atMost(SOON)
        .until(
            () ->
                client
                    .get("/metrics", null)
                    .response()
                    .body()
                    .matches("(?s).*server_live_subscribers(\\{[^}]*})? 0\\.0.*"));
    List<LiveStream> streams = new ArrayList<>();
    try (ExecutorService people = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < pages; i++) {
        streams.add(LiveStream.open(server.url(), "", null));
      }
      for (LiveStream stream : streams) {
        stream.next(Topics.JOBS);
      }
      long before = looks.get();
      long start = System.nanoTime();
      List<Future<?>> asking = new ArrayList<>();
      for (int i = 0; i < pages; i++) {
        List<String> view = VIEWS.get(i % VIEWS.size());
        int offset = i * 1_000 / pages;
        asking.add(
            people.submit(
                () -> {
                  ask(view, job, offset, rounds);
                  return null;
                }));
      }
      for (Future<?> each : asking) {
        each.get();
      }
      return new Storm(looks.get() - before, (System.nanoTime() - start) / 1e9);
    } finally {
      streams.forEach(LiveStream::close);
    }
  }

  /** Once a second, at another moment than the others. */
  private void ask(List<String> view, JobId job, int offsetMs, int rounds)
      throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(offsetMs);
    for (int round = 0; round < rounds; round++) {
      for (String path : view) {
        get(path.replace("JOB", job.toString()), SHARED, null).ok();
      }
      TimeUnit.SECONDS.sleep(1);
    }
  }

  // ---- permissions

  private long jobs(@Nullable String maxAge, @Nullable String key) {
    return get("/v1/jobs", maxAge, key).ok().get("jobs").size();
  }

  @Test
  void a_cached_response_is_used_only_for_requests_that_allow_it() {
    assertThat(jobs("max-age=10", null)).isZero();
    holdfast.enqueue(Job.of("echo"));
    assertThat(jobs("max-age=10", null)).isZero();
    assertThat(jobs(null, null)).isOne();
    assertThat(jobs("no-cache", null)).isOne();
    assertThat(jobs("max-age=0", null)).isOne();
    assertThat(get("/v1/jobs?limit=9", "max-age=10", null).ok().get("jobs")).hasSize(1);
    await().atMost(SOON).until(() -> jobs("max-age=1", null) == 1);
  }

  @Test
  void an_operators_change_is_in_the_next_response() {
    String path = "/v1/queues/work";
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isTrue();
    client.post(path + "/pause", null).ok();
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isFalse();
    client.post(path + "/resume", null).ok();
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isTrue();
  }

  @Test
  void after_a_live_event_no_older_cached_response_is_served() {
    try (LiveStream live = LiveStream.open(server.url(), "?topics=queue:jobs", null)) {
      live.next(Topics.JOBS);
      for (int i = 1; i <= 5; i++) {
        jobs("max-age=10", null);
        JobId job = holdfast.enqueue(Job.of("echo")).id();
        live.job(job.toString(), "PENDING");
        assertThat(jobs("max-age=10", null)).isEqualTo(i);
      }
    }
  }

  @Test
  void no_caller_gets_a_cached_response_of_one_with_more_permissions() {
    holdfast.enqueue(Job.of("echo").owner("acme", "default"));
    String all = key(Role.VIEWER, null);
    String ours = key(Role.VIEWER, "ours");
    assertThat(jobs("max-age=10", all)).isOne();
    assertThat(jobs("max-age=10", ours)).isZero();
    assertThat(jobs("max-age=10", key(Role.VIEWER, "acme"))).isOne();
    get("/v1/jobs", "max-age=10", "hf_000000000000_wrong").is(401, "key_invalid");
  }

  @Test
  void error_responses_are_not_cached() {
    String path = "/v1/jobs/" + JobId.next();
    get(path, "max-age=10", null).is(404, "not_found");
    client
        .post(
            "/v1/jobs",
            java.util.Map.of("id", path.substring(path.lastIndexOf('/') + 1), "kind", "echo"),
            null)
        .created();
    get(path, "max-age=10", null).ok();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isOne();
  }
}
