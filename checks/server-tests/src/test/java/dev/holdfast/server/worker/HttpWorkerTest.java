package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Eventually.until;
import static dev.holdfast.testkit.Soon.AMPLE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.client.http.KeyRefusedException;
import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.RunningServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A worker that has the address of a server and a key, and no database. */
public class HttpWorkerTest extends ServerTest {
  private static final Timings QUICK =
      new Timings(Duration.ofMillis(500), AMPLE, Duration.ZERO, Duration.ofSeconds(5));
  private static final Duration LONGER_THAN_A_LEASE = AMPLE.multipliedBy(5).dividedBy(4);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final Map<JobId, AtomicInteger> runs = new ConcurrentHashMap<>();

  HttpWorkerTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.timings(QUICK);
  }

  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  private <T extends AutoCloseable> T closing(T resource) {
    opened.push(resource);
    return resource;
  }

  private HttpSource source(URI at, @Nullable String key) {
    return closing(HttpSource.to(at, key));
  }

  private WorkerBuilder worker(HttpSource source) {
    return Holdfast.worker(source, QUEUE)
        .timings(QUICK)
        .poll(Duration.ofMillis(100))
        .shutdownTimeout(Duration.ZERO)
        .handle(
            "echo",
            Json.class,
            (payload, context) -> {
              runs.computeIfAbsent(context.id(), id -> new AtomicInteger()).incrementAndGet();
              return payload;
            })
        .handle(
            "wait",
            Json.class,
            (payload, context) -> {
              begun.countDown();
              goOn.await();
              return "done";
            });
  }

  private FaultProxy proxy() {
    return closing(FaultProxy.beforeHttp(server.url().getPort()));
  }

  private static URI through(FaultProxy proxy) {
    return URI.create("http://127.0.0.1:" + proxy.port());
  }

  private JobStatus await(JobId job, JobState state) {
    until(() -> holdfast.find(job).orElseThrow().state() == state);
    return holdfast.find(job).orElseThrow();
  }

  private void restart() {
    int port = server.url().getPort();
    server.close();
    server =
        RunningServer.of(
            HoldfastServer.start(holdfast, options().apply(ServerOptions.DEFAULT.port(port))));
  }

  @Test
  void it_runs_jobs_with_a_key_of_its_own() {
    String key = key(Role.WORKER, null);
    JobId job = holdfast.enqueue(Job.of("echo", Map.of("price", 1)).queue(QUEUE)).id();
    closing(worker(source(server.url(), key)).start());
    JobStatus done = await(job, JobState.SUCCEEDED);
    assertThat(String.valueOf(done.result())).contains("price");
    assertThat(done.worker()).startsWith("worker:" + QUEUE + ":0@");
  }

  @Test
  void a_job_has_the_same_fields_as_in_a_worker_with_a_database() {
    Job job =
        Job.of("echo", Map.of("n", 1.10))
            .queue(QUEUE)
            .owner("acme", "west")
            .maxAttempts(7)
            .timeout(Duration.ofMinutes(3))
            .deadline(holdfast.queries().now().plus(Duration.ofHours(1)));
    holdfast.enqueue(List.of(job, job.id(JobId.next())));
    LeasedJob direct =
        holdfast
            .jobs()
            .claim(new ClaimRequest(QUEUE, 1, "direct", Duration.ofMinutes(1)))
            .jobs()
            .getFirst();
    LeasedJob remote =
        source(server.url(), null)
            .claim(QUEUE, 1, "remote", Timings.DEFAULT, List.of())
            .jobs()
            .getFirst();
    assertThat(remote)
        .usingRecursiveComparison()
        .ignoringFields(
            "lease", "run", "runKey", "payload", "enqueuedAt", "queueWait", "untilDeadline")
        .isEqualTo(direct);
    assertThat(remote.payload().text()).isEqualTo("{\"n\":1.1}");
    assertThat(remote.run()).isEqualTo(remote.id());
    assertThat(remote.enqueuedAt()).isEqualTo(direct.enqueuedAt());
    assertThat(remote.untilDeadline()).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(60));
    assertThat(remote.maxAttempts()).isEqualTo(7);
  }

  @Test
  void an_invalid_key_is_reported_with_a_remedy_and_not_shown() {
    String key = key(Role.VIEWER, null);
    assertThatThrownBy(() -> source(server.url(), key).heldBy("w"))
        .isInstanceOf(KeyRefusedException.class)
        .hasMessageContaining("role worker")
        .hasMessageNotContaining(key);
    String unknown = key.substring(0, key.length() - 4) + "0000";
    assertThatThrownBy(() -> source(server.url(), unknown).heldBy("w"))
        .isInstanceOf(KeyRefusedException.class)
        .hasMessageContaining("API key")
        .hasMessageNotContaining(unknown);
    assertThat(source(server.url(), unknown).toString()).doesNotContain(unknown);
    assertThatThrownBy(() -> HttpSource.to(server.url(), unknown + "\n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining(unknown);
  }

  @Test
  void large_batches_are_split_into_several_requests() {
    HttpSource source = source(server.url(), null);
    List<Job> jobs = IntStream.range(0, 1_030).mapToObj(i -> Job.of("echo").queue(QUEUE)).toList();
    holdfast.enqueue(jobs);
    holdfast.jobs().claim(new ClaimRequest(QUEUE, 1_030, "w", SOON));
    List<Lease> held = source.heldBy("w");
    assertThat(held).hasSize(1_030);
    List<Lease> many = new java.util.ArrayList<>(held);
    many.add(new Lease(JobId.next(), 1));
    List<HeartbeatResult> results = source.heartbeat(many, SOON);
    assertThat(results).hasSize(1_031);
    assertThat(results.stream().filter(result -> result.ack() == Ack.ACCEPTED)).hasSize(1_030);
    List<Lease> leases = held.subList(0, 30);
    Json large = new Json("\"" + "x".repeat(500_000) + "\"");
    List<Settlement> settlements =
        leases.stream().<Settlement>map(lease -> new Settlement.Succeed(lease, large)).toList();
    assertThat(source.settle(settlements)).hasSize(30).containsOnly(Ack.ACCEPTED);
  }

  @Test
  void a_server_that_is_restarted_loses_nothing_and_repeats_nothing() {
    List<Job> jobs = IntStream.range(0, 300).mapToObj(i -> Job.of("echo").queue(QUEUE)).toList();
    JobId held = holdfast.enqueue(Job.of("wait").queue(QUEUE)).id();
    closing(worker(source(server.url(), null)).start());
    until(() -> begun.getCount() == 0);
    holdfast.enqueue(jobs);
    until(() -> runs.size() > 20);
    restart();
    jobs.forEach(job -> await(job.id(), JobState.SUCCEEDED));
    goOn.countDown();
    assertThat(await(held, JobState.SUCCEEDED).attempt()).isEqualTo(1);
    assertThat(runs.values()).allSatisfy(times -> assertThat(times).hasValue(1));
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE crashes > 0")).isZero();
    // It is notified of new jobs again.
    await(enqueued(), JobState.SUCCEEDED);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_job_survives_an_outage_of_the_server_longer_than_its_lease() throws Exception {
    JobId job = holdfast.enqueue(Job.of("wait").queue(QUEUE)).id();
    closing(worker(source(server.url(), null)).start());
    until(() -> begun.getCount() == 0);
    int port = server.url().getPort();
    server.close();
    TimeUnit.MILLISECONDS.sleep(LONGER_THAN_A_LEASE.toMillis());
    server =
        RunningServer.of(
            HoldfastServer.start(holdfast, options().apply(ServerOptions.DEFAULT.port(port))));
    long back = System.nanoTime();
    // Longer than the new server waits before it recovers jobs.
    until(() -> System.nanoTime() - back > LONGER_THAN_A_LEASE.toNanos());
    goOn.countDown();
    JobStatus done = await(job, JobState.SUCCEEDED);
    assertThat(done.attempt()).isEqualTo(1);
    assertThat(done.crashes()).isZero();
  }

  @Test
  void a_settle_whose_answer_was_lost_counts_once() {
    FaultProxy proxy = proxy();
    CountDownLatch lost = proxy.loseNextReplyTo("POST /v1/leases/settle");
    JobId job = enqueued();
    Worker worker = closing(worker(source(through(proxy), null)).start());
    until(() -> lost.getCount() == 0);
    assertThat(await(job, JobState.SUCCEEDED).attempt()).isEqualTo(1);
    until(() -> worker.metrics().value("worker.inflight_jobs") == 0);
    assertThat(worker.metrics().value("worker.late_results_total")).isZero();
    assertThat(runs.get(job)).hasValue(1);
  }

  @Test
  void a_claim_whose_answer_was_lost_is_released_and_is_no_crash() {
    FaultProxy proxy = proxy();
    JobId job = enqueued();
    CountDownLatch lost = proxy.loseNextReplyTo("POST /v1/queues/" + QUEUE + "/lease");
    closing(worker(source(through(proxy), null)).timings(Timings.DEFAULT).start());
    until(() -> lost.getCount() == 0);
    JobStatus done = await(job, JobState.SUCCEEDED);
    assertThat(done.attempt()).isEqualTo(2);
    assertThat(done.crashes()).isZero();
    assertThat(runs.get(job)).hasValue(1);
  }

  @Test
  void a_worker_continues_after_its_connections_were_cut() {
    FaultProxy proxy = proxy();
    JobId held = holdfast.enqueue(Job.of("wait").queue(QUEUE)).id();
    closing(worker(source(through(proxy), null)).timings(Timings.DEFAULT).start());
    until(() -> begun.getCount() == 0);
    proxy.cut();
    JobId meanwhile = enqueued();
    goOn.countDown();
    proxy.mend();
    assertThat(await(held, JobState.SUCCEEDED).attempt()).isEqualTo(1);
    await(meanwhile, JobState.SUCCEEDED);
  }

  @Test
  void an_outage_of_the_server_is_one_warning_and_its_return_one_notice() throws Exception {
    FaultProxy proxy = proxy();
    String url = "the server at " + through(proxy);
    try (CapturedLog log = new CapturedLog()) {
      Worker worker = closing(worker(source(through(proxy), null)).start());
      closing(worker(source(through(proxy), null)).start()).close();
      await(enqueued(), JobState.SUCCEEDED);
      // A job whose settling was not answered yet would have heartbeats, which fail too and say so.
      until(() -> worker.metrics().value("worker.inflight_jobs") == 0);
      proxy.cut();
      JobId meanwhile = enqueued();
      until(() -> !log.lines(Level.WARN, url).isEmpty());
      TimeUnit.MILLISECONDS.sleep(6 * QUICK.heartbeat().toMillis());
      assertThat(log.lines(Level.WARN, url)).singleElement().asString().contains("does not answer");
      proxy.mend();
      await(meanwhile, JobState.SUCCEEDED);
      assertThat(log.lines(Level.WARN, url)).hasSize(1);
      assertThat(log.lines(Level.INFO, url))
          .singleElement()
          .asString()
          .contains("answers again after");
    }
  }

  @Test
  void a_server_that_does_not_exist_counts_as_unavailable() {
    URI nowhere = server.url();
    server.close();
    assertThatThrownBy(() -> source(nowhere, null).heldBy("w"))
        .isInstanceOf(SourceUnavailableException.class)
        .hasMessageContaining(nowhere.toString());
  }
}
