package dev.holdfast.server.live;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.Queue;
import dev.holdfast.server.ApiTest;
import dev.holdfast.server.Client;
import dev.holdfast.server.Flow;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.RunningServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.page.OpenPageTest;
import dev.holdfast.testkit.OnlyWithAll;
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

/** However many pages are open, the database is looked at no more than for a few. */
@OnlyWithAll
public class ManyPagesTest extends ApiTest {
  /** What each page asks for again and again; {@link OpenPageTest} sees to it that this is true. */
  public static final List<List<String>> VIEWS =
      List.of(
          List.of(
              "/v1/history?minutes=15",
              "/v1/info",
              "/v1/jobs/count?state=FAILED",
              "/v1/jobs?state=RUNNING&brief=true&limit=12"),
          List.of("/v1/queues", "/v1/schedules"),
          List.of("/v1/jobs?brief=true&limit=50"),
          List.of("/v1/workers"),
          List.of("/v1/info"),
          List.of("/v1/jobs/JOB?include=events,attempts,steps,artifacts", "/v1/jobs/JOB/log"));

  private static final String SHARED = "max-age=2";
  private static final int PAGES = 50;
  private static final int ROUNDS = 6;

  // Set by startServer, which the constructor calls; so it must not be set here.
  private AtomicLong looks;

  ManyPagesTest(TestDatabase db) {
    super(db);
  }

  /** Whose looks at the database are counted, and nobody else's. */
  @Override
  public RunningServer startServer() {
    AtomicLong counted = new AtomicLong();
    looks = counted;
    Holdfast observed =
        Holdfast.on(
            db.dataSource(db.url(), 10),
            new JacksonCodec(),
            new Queue.Options(8, (verb, took, trouble) -> counted.incrementAndGet()));
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

  // ---- a storm

  @Test
  void fifty_open_pages_are_no_more_work_for_the_database_than_a_few() throws Exception {
    JobId job = holdfast.enqueue(Job.of("echo").queue("other")).id();
    try (Flow flowing = Flow.of(holdfast, "flow")) {
      storm(VIEWS.size(), job, 1);
      Storm few = storm(VIEWS.size(), job, ROUNDS);
      Storm many = storm(PAGES, job, ROUNDS);
      assertThat(flowing).isNotNull();
      assertThat(few.looks()).isPositive();
      // Each asked for itself, it would be eight times as much. A busy machine takes longer.
      double longer = Math.max(1, many.seconds() / few.seconds());
      assertThat((double) many.looks())
          .as("looks for many: %s, few: %s", many, few)
          .isLessThan(2 * longer * few.looks() + 50);
    }
  }

  /** How often the server looked, and for how long. */
  private record Storm(long looks, double seconds) {}

  /** So many pages ask, each more often than a page does. */
  private Storm storm(int pages, JobId job, int rounds) throws Exception {
    // One client may have no more streams than there are pages here; those before are to be gone.
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

  // ---- who gets what

  private long jobs(@Nullable String maxAge, @Nullable String key) {
    return get("/v1/jobs", maxAge, key).ok().get("jobs").size();
  }

  @Test
  void an_answer_is_shared_only_with_those_who_asked_for_that() {
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
  void what_an_operator_does_is_in_the_next_answer() {
    String path = "/v1/queues/work";
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isTrue();
    client.post(path + "/pause", null).ok();
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isFalse();
    client.post(path + "/resume", null).ok();
    assertThat(get(path, SHARED, null).ok().get("pausedAt").isNull()).isTrue();
  }

  @Test
  void who_heard_of_something_is_not_answered_from_before_it() {
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
  void nobody_gets_the_answer_of_one_who_may_see_more() {
    holdfast.enqueue(Job.of("echo").owner("acme", "default"));
    String all = key(Role.VIEWER, null);
    String ours = key(Role.VIEWER, "ours");
    assertThat(jobs("max-age=10", all)).isOne();
    assertThat(jobs("max-age=10", ours)).isZero();
    assertThat(jobs("max-age=10", key(Role.VIEWER, "acme"))).isOne();
    get("/v1/jobs", "max-age=10", "hf_000000000000_wrong").is(401, "key_invalid");
  }

  @Test
  void what_went_wrong_is_not_kept() {
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
