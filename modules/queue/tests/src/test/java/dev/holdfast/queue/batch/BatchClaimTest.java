package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.command.Cancel;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs that were claimed in a batch, whose rows say PENDING, run for whoever asks. */
class BatchClaimTest extends QueueFixture {
  private Queue batching;
  private JobQueue worker;

  @BeforeEach
  void openBatching() {
    batching = batching(db.dataSource());
    worker = batching.jobs();
  }

  /** Every claim of its workers is a batch claim. */
  private static Queue batching(DataSource source) {
    return new Queue(source, new JacksonCodec(), Queue.Options.DEFAULT.batchFrom(0));
  }

  @AfterEach
  void closeBatching() {
    batching.close();
  }

  private List<Lease> batch(int jobs) {
    queue.enqueue(jobs(jobs));
    List<Lease> leases = inBatch(jobs);
    assertThat(leases).hasSize(jobs);
    return leases;
  }

  private List<Lease> inBatch(int most) {
    return worker.claimInBatches(QUEUE, most, WORKER, LEASE).jobs().stream()
        .map(LeasedJob::lease)
        .toList();
  }

  private Lease inBatch() {
    return batch(1).getFirst();
  }

  private static long claims() {
    return db.count("SELECT count(*) FROM holdfast.claim");
  }

  private static long rows(String state, int attempt) {
    return db.count(
        "SELECT count(*) FROM holdfast.job WHERE state = ? AND attempt = ?", state, attempt);
  }

  /** As if the claim had been made an hour ago, by a worker that is dead. */
  private static void expireClaims() {
    db.sql(
        "UPDATE holdfast.claim SET started_at = started_at - interval '1 hour',"
            + " lease_expires_at = started_at - interval '1 hour'");
  }

  @Test
  void a_batch_claim_writes_one_row_and_none_of_its_jobs() {
    batch(5);
    assertThat(claims()).isEqualTo(1);
    assertThat(rows("PENDING", 0)).isEqualTo(5);
    assertThat(inBatch(5)).isEmpty();
    assertThat(claim(5)).isEmpty();
  }

  @Test
  void a_claim_row_by_row_is_followed_by_batches_only_in_a_backlog() {
    try (Queue usual = new Queue(db.dataSource(), new JacksonCodec(), Queue.Options.DEFAULT)) {
      queue.enqueue(jobs(350));
      assertThat(usual.jobs().claimInBatches(QUEUE, 99, WORKER, LEASE).jobs()).hasSize(99);
      assertThat(usual.jobs().claimInBatches(QUEUE, 100, WORKER, LEASE).jobs()).hasSize(100);
      assertThat(claims()).isZero();
      assertThat(usual.jobs().claimInBatches(QUEUE, 100, WORKER, LEASE).jobs()).hasSize(100);
      assertThat(claims()).isEqualTo(1);
      assertThat(rows("RUNNING", 1)).isEqualTo(199);
      assertThat(usual.jobs().claim(QUEUE, 100, WORKER, LEASE).jobs()).hasSize(51);
      assertThat(claims()).isEqualTo(1);
    }
  }

  /** One way to ask how a job is. */
  interface Question {
    Object ask(Queue asked, JobId job);
  }

  record Asked(String name, Object answer, Question question) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Asked> everyQuestion() {
    JobFilter running = JobFilter.ALL.states(Set.of(JobState.RUNNING));
    return Stream.of(
        new Asked("find", JobState.RUNNING, (q, job) -> find(q, job).state()),
        new Asked("its attempt", 1, (q, job) -> find(q, job).attempt()),
        new Asked("its worker", WORKER, (q, job) -> String.valueOf(find(q, job).worker())),
        new Asked("list", 3, (q, job) -> q.queries().list(running).size()),
        new Asked("page", 3, (q, job) -> q.queries().page(running).jobs().size()),
        new Asked("brief page", 3, (q, job) -> q.queries().briefPage(running).jobs().size()),
        new Asked("count", 3L, (q, job) -> q.queries().count(running, 10).count()),
        new Asked(
            "statistics", 3L, (q, job) -> q.queries().statistics().byState().get(JobState.RUNNING)),
        new Asked("queues", 3L, (q, job) -> q.admin().queues().getFirst().running()),
        new Asked("due", 0L, (q, job) -> q.admin().queues().getFirst().due()),
        new Asked("depth", 0L, (q, job) -> q.queries().depth(List.of(QUEUE), 10)),
        new Asked("running", 3L, (q, job) -> q.queries().running(QUEUE, WORKER)),
        new Asked("holders", 3L, (q, job) -> q.queries().holders(null, 5, 5).getFirst().held()),
        new Asked("states", JobState.RUNNING, BatchClaimTest::stateOf),
        new Asked("changes", JobState.RUNNING, BatchClaimTest::changeOf),
        new Asked("timeline", "processing", BatchClaimTest::lastEvent),
        new Asked("attempts", AttemptOutcome.RUNNING, BatchClaimTest::outcome),
        new Asked(
            "worker names",
            WORKER,
            (q, job) ->
                String.valueOf(
                    q.queries().workerNames(List.of(new Lease(job, 1))).get(new Lease(job, 1)))),
        new Asked("counts", List.of(JobState.RUNNING), BatchClaimTest::statesCounted),
        new Asked("heartbeat at", true, BatchClaimTest::isHeard),
        new Asked("held by", 3, (q, job) -> q.jobs().heldBy(WORKER).size()),
        new Asked(
            "may be known", true, (q, job) -> q.jobs().mayBeKnown(job, Duration.ofMinutes(1))));
  }

  private static JobStatus find(Queue asked, JobId job) {
    return asked.queries().find(job).orElseThrow();
  }

  private static JobState stateOf(Queue asked, JobId job) {
    return asked.queries().states(List.of(job)).getFirst().state();
  }

  private static List<JobState> statesCounted(Queue asked, JobId job) {
    return asked.queries().counts(JobFilter.ALL).rows().stream().map(JobCounts.Row::state).toList();
  }

  private static boolean isHeard(Queue asked, JobId job) {
    return asked.queries().heartbeatAt(new Lease(job, 1)).isPresent();
  }

  private static JobState changeOf(Queue asked, JobId job) {
    JobQueries all = asked.queries();
    return all.changes(new ChangedJob(Instant.EPOCH, List.of(job), null, 10)).stream()
        .filter(brief -> brief.id().equals(job))
        .findFirst()
        .orElseThrow()
        .state();
  }

  private static String lastEvent(Queue asked, JobId job) {
    return asked.queries().timeline(job).getLast().type();
  }

  private static AttemptOutcome outcome(Queue asked, JobId job) {
    return asked.queries().attempts(job).getFirst().outcome();
  }

  @ParameterizedTest
  @MethodSource("everyQuestion")
  void a_job_in_a_batch_is_running_whoever_asks(Asked asked) {
    JobId job = batch(3).get(1).job();
    assertThat(asked.question().ask(opened, job)).isEqualTo(asked.answer());
    assertThat(rows("RUNNING", 1)).isPositive();
  }

  @Test
  void a_success_writes_the_row_once_with_what_the_claim_knew() {
    Instant before = queries.now();
    List<Lease> leases = batch(3);
    Instant after = queries.now();
    List<Settlement> settlements =
        leases.stream().map(lease -> (Settlement) succeed(lease)).toList();
    assertThat(worker.settle(settlements)).containsOnly(Ack.ACCEPTED).hasSize(3);
    JobStatus job = status(leases.get(1).job());
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.worker()).isEqualTo(WORKER);
    assertThat(job.result()).isEqualTo(new Json("{\"ok\": true}"));
    assertThat(job.startedAt()).isBetween(before, after);
    assertThat(job.finishedAt()).isAfter(after);
    assertThat(events(job.id())).containsExactly("created", "processing", "done");
    assertThat(db.count("SELECT count(*) FROM public.seen WHERE transition = 'PENDING>RUNNING'"))
        .isEqualTo(3);
    // Sent again, as after a lost answer.
    assertThat(worker.settle(settlements)).containsOnly(Ack.ACCEPTED);
    assertThat(events(job.id())).hasSize(3);
  }

  @Test
  void each_result_lands_in_its_own_row_also_from_several_claims() {
    queue.enqueue(jobs(60));
    List<Lease> leases =
        Stream.of("a", "b", "c")
            .flatMap(name -> worker.claimInBatches(QUEUE, 20, name, LEASE).jobs().stream())
            .map(LeasedJob::lease)
            .toList();
    worker.settle(
        leases.stream()
            .map(
                lease ->
                    (Settlement) new Settlement.Succeed(lease, new Json("\"" + lease.job() + "\"")))
            .toList());
    for (int i = 0; i < 60; i++) {
      JobStatus job = status(leases.get(i).job());
      assertThat(job.result()).isEqualTo(new Json("\"" + job.id() + "\""));
      assertThat(job.worker()).isEqualTo(List.of("a", "b", "c").get(i / 20));
    }
  }

  @Test
  void a_claim_lasts_until_all_of_its_jobs_are_written() {
    List<Lease> leases = batch(3);
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
    assertThat(claims()).isEqualTo(1);
    assertThat(rows("PENDING", 0)).isEqualTo(2);
    assertThat(inBatch(5)).isEmpty();
    assertThat(worker.settle(fail(leases.get(1), HOPELESS))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
    assertThat(worker.settle(succeed(leases.get(2)))).isEqualTo(Ack.ACCEPTED);
    worker.settle(succeed(inBatch()));
    assertThat(db.count("SELECT count(*) FROM holdfast.claim WHERE cardinality(job_ids) = 3"))
        .isZero();
    expireClaims();
    maintenance.reap(Duration.ZERO);
    assertThat(claims()).isZero();
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(3);
  }

  @Test
  void a_job_that_comes_back_from_a_batch_can_be_claimed_while_the_others_run() {
    List<Lease> leases = batch(3);
    worker.settle(new Settlement.Release(leases.get(0), false));
    worker.settle(new Settlement.Release(leases.get(1), false));
    assertThat(inBatch(1)).hasSize(1).first().extracting(Lease::attempt).isEqualTo(2);
    assertThat(claim(5)).hasSize(1).first().extracting(job -> job.lease().attempt()).isEqualTo(2);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
  }

  @Test
  void a_claim_that_is_deleted_takes_no_unsettled_job_along() {
    List<Lease> leases = batch(2);
    worker.settle(succeed(leases.get(0)));
    assertThat(queries.statistics().byState())
        .containsEntry(JobState.RUNNING, 1L)
        .containsEntry(JobState.SUCCEEDED, 1L);
    assertThat(claims()).isZero();
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.ACCEPTED);
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(2);
  }

  @Test
  void workers_that_claim_in_batches_and_row_by_row_never_get_the_same_job() {
    int jobs = 1_200;
    queue.enqueue(jobs(jobs));
    Set<JobId> ran = ConcurrentHashMap.newKeySet();
    AtomicInteger done = new AtomicInteger();
    AtomicBoolean stopped = new AtomicBoolean();
    Parallel.run(
        6,
        i ->
            () -> {
              try (Queue own = batching(db.dataSource(db.url(), 4))) {
                while (done.get() < jobs && !stopped.get()) {
                  List<LeasedJob> claimed =
                      i % 2 == 0
                          ? own.jobs().claimInBatches(QUEUE, 7 + 10 * i, "w" + i, LEASE).jobs()
                          : own.jobs().claim(QUEUE, 3 + i, "w" + i, LEASE).jobs();
                  claimed.forEach(job -> assertThat(ran.add(job.id())).isTrue());
                  if (i == 2) {
                    own.queries().statistics();
                  }
                  assertThat(
                          own.jobs()
                              .settle(
                                  claimed.stream()
                                      .map(job -> (Settlement) succeed(job.lease()))
                                      .toList()))
                      .allMatch(Ack.ACCEPTED::equals);
                  done.addAndGet(claimed.size());
                }
                return true;
              } catch (RuntimeException | Error failed) {
                stopped.set(true);
                throw failed;
              }
            });
    assertThat(ran).hasSize(jobs);
    assertThat(rows("SUCCEEDED", 1)).isEqualTo(jobs);
  }

  @Test
  void a_batch_whose_worker_died_is_reaped_job_by_job() {
    List<Lease> leases = batch(3);
    worker.settle(succeed(leases.get(0)));
    expireClaims();
    assertThat(maintenance.reap(Duration.ZERO).requeued())
        .containsExactlyInAnyOrder(leases.get(1).job(), leases.get(2).job());
    assertThat(claims()).isZero();
    JobStatus lost = status(leases.get(1).job());
    assertThat(lost.state()).isEqualTo(JobState.PENDING);
    assertThat(lost.crashes()).isEqualTo(1);
    assertThat(events(lost.id())).containsExactly("created", "processing", "requeued:stale");
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(worker.heartbeat(List.of(leases.get(1)), LEASE).getFirst().ack())
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(inBatch(5))
        .containsExactlyInAnyOrder(
            new Lease(leases.get(1).job(), 2), new Lease(leases.get(2).job(), 2));
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(rows("RUNNING", 2)).isEqualTo(2);
  }

  @Test
  void a_batch_of_a_process_that_is_known_to_be_dead_is_taken_back_at_once() {
    List<Lease> leases = batch(2);
    assertThat(opened.workers().recovery().recover("here", WORKER, "exit 137").requeued())
        .containsExactlyInAnyOrder(leases.get(0).job(), leases.get(1).job());
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_batch_whose_lease_lasts_is_left_alone() {
    List<Lease> leases = batch(2);
    db.sql("UPDATE holdfast.claim SET started_at = started_at - interval '5 seconds'");
    assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
    // By now it has rows of its own, with the claim's lease.
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_timeout_ends_a_job_in_a_batch() {
    add(job().timeout(Duration.ofMillis(1)));
    Lease lease = inBatch(1).getFirst();
    db.sql("UPDATE holdfast.claim SET started_at = started_at - interval '5 seconds'");
    maintenance.expire(Duration.ZERO);
    assertThat(state(lease.job())).isEqualTo(JobState.RETRYING);
    assertThat(worker.settle(succeed(lease))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_cancelled_job_in_a_batch_is_asked_to_stop_and_the_others_go_on() {
    List<Lease> leases = batch(3);
    JobId job = leases.get(1).job();
    assertThat(queue.cancel(job, false, "enough", GRACE))
        .extracting(Cancellation::previousState, Cancellation::outcome)
        .containsExactly(tuple(JobState.RUNNING, Cancellation.Outcome.REQUESTED));
    assertThat(worker.commands(WORKER))
        .extracting(HeartbeatResult::lease, HeartbeatResult::cancelReason)
        .containsExactly(tuple(leases.get(1), "enough"));
    assertThat(rows("PENDING", 0)).isEqualTo(2);
    assertThat(worker.settle(new Settlement.Cancel(leases.get(1), null))).isEqualTo(Ack.ACCEPTED);
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
    assertThat(worker.settle(succeed(leases.get(2)))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_job_that_is_just_being_cancelled_is_in_no_batch() throws Exception {
    JobId job = add(job());
    JobId other = add(job());
    try (Connection canceller = db.dataSource().getConnection()) {
      canceller.setAutoCommit(false);
      assertThat(Cancel.of(canceller, List.of(job), false, "enough", GRACE, null)).hasSize(1);
      // It waits a moment for the cancel, and then goes row by row.
      assertThat(inBatch(5)).extracting(Lease::job).containsExactly(other);
      assertThat(claims()).isZero();
      canceller.commit();
      canceller.setAutoCommit(true);
    }
    assertThat(inBatch(5)).isEmpty();
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void an_operators_command_finds_a_job_in_a_batch_running() {
    add(Job.of("test", Map.of("steps", List.of())));
    Lease lease = inBatch(1).getFirst();
    assertThat(
            queue.command(
                lease.job(), new JobCommand(CommandAction.TAKEOVER, null, "ada", "mine"), null))
        .isEqualTo(JobCommand.Answer.ACCEPTED);
    assertThat(worker.commands(WORKER)).hasSize(1);
  }

  /** What is said of one job of a batch alone. */
  interface Verb {
    Ack say(JobQueue queue, Lease lease);
  }

  record Said(String name, Verb verb) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Said> everyVerb() {
    return Stream.of(
        new Said("fail", (q, lease) -> q.settle(fail(lease, FLAKY))),
        new Said("cancelled", (q, lease) -> q.settle(new Settlement.Cancel(lease, null))),
        new Said(
            "snooze", (q, lease) -> q.settle(new Settlement.Snooze(lease, Duration.ofHours(1)))),
        new Said("release", (q, lease) -> q.settle(new Settlement.Release(lease, false))),
        new Said("succeed", (q, lease) -> q.settle(succeed(lease))),
        new Said(
            "progress",
            (q, lease) -> q.report(List.of(new Report.Progress(lease, 10, "x"))).getFirst()),
        new Said(
            "event",
            (q, lease) ->
                q.report(List.of(new Report.Event(lease, "made", new Json("{}")))).getFirst()),
        new Said("log", (q, lease) -> q.report(List.of(new Report.Log(lease, 1, "x"))).getFirst()),
        new Said(
            "log lines",
            (q, lease) -> q.log(new LogLines(lease, 1L, List.of("x"), (before, added) -> added))),
        new Said("step", (q, lease) -> q.report(List.of(step(lease))).getFirst()),
        new Said(
            "publish",
            (q, lease) ->
                q.publish(
                    new Publication(
                        lease, "store", List.of(new Artifact("a", 1, "0".repeat(64))), null))),
        new Said("heartbeat", (q, lease) -> q.heartbeat(List.of(lease), LEASE).getFirst().ack()));
  }

  private static Report.Step step(Lease lease) {
    return new Report.Step(
        lease, "one", 1, StepState.RUNNING, 1, false, null, null, null, null, List.of());
  }

  @ParameterizedTest
  @MethodSource("everyVerb")
  void whatever_is_said_of_one_job_is_said_of_a_running_one(Said said) {
    List<Lease> leases = batch(2);
    assertThat(said.verb().say(worker, leases.get(0))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
    assertThat(events(leases.get(0).job())).startsWith("created", "processing");
    // Also by a process that has not claimed it.
    assertThat(said.verb().say(queue, leases.get(1))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isZero();
  }

  @Test
  void a_heartbeat_extends_the_lease_of_a_job_in_a_batch() {
    Lease lease = inBatch();
    Instant until = queries.now().plus(Duration.ofMinutes(50));
    assertThat(worker.heartbeat(List.of(lease), Duration.ofHours(1)))
        .containsExactly(new HeartbeatResult(lease, Ack.ACCEPTED, null));
    assertThat(status(lease.job()).leaseExpiresAt()).isAfter(until);
  }

  @Test
  void a_heartbeat_does_not_wait_for_a_row_that_is_locked_and_the_job_is_held() throws Exception {
    List<Lease> leases = batch(2);
    try (Connection other = db.dataSource().getConnection()) {
      other.setAutoCommit(false);
      lock(other, leases.get(0).job());
      List<HeartbeatResult> results = worker.heartbeat(leases, LEASE);
      assertThat(results).extracting(HeartbeatResult::ack).containsOnly(Ack.ACCEPTED);
      assertThat(results).extracting(HeartbeatResult::busy).containsExactly(true, false);
      other.rollback();
      other.setAutoCommit(true);
    }
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
  }

  private static void lock(Connection connection, JobId job) throws SQLException {
    try (var statement =
        connection.prepareStatement("SELECT id FROM holdfast.job WHERE id = ? FOR UPDATE")) {
      statement.setObject(1, job.value());
      assertThat(statement.executeQuery().next()).isTrue();
    }
  }

  @Test
  void in_the_callers_transaction_others_see_the_job_run_until_it_commits() throws Exception {
    List<Lease> leases = batch(2);
    try (Connection own = db.dataSource().getConnection()) {
      own.setAutoCommit(false);
      assertThat(worker.succeed(own, succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
      assertThat(state(leases.get(0).job())).isEqualTo(JobState.RUNNING);
      own.rollback();
      assertThat(state(leases.get(0).job())).isEqualTo(JobState.RUNNING);
      assertThat(worker.succeed(own, succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
      own.commit();
      own.setAutoCommit(true);
    }
    assertThat(state(leases.get(0).job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
  }

  @Test
  void a_callers_transaction_with_a_snapshot_settles_a_job_in_a_batch() throws Exception {
    Lease lease = inBatch();
    try (Connection own = db.dataSource().getConnection()) {
      own.setAutoCommit(false);
      own.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (var statement = own.createStatement()) {
        statement.execute("SELECT count(*) FROM holdfast.job");
      }
      assertThat(worker.succeed(own, succeed(lease))).isEqualTo(Ack.ACCEPTED);
      own.commit();
      own.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      own.setAutoCommit(true);
    }
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(events(lease.job())).containsExactly("created", "processing", "done");
  }

  @Test
  void jobs_that_others_watch_get_rows_of_their_own() {
    JobId retried = running().job();
    queue.settle(new Settlement.Release(new Lease(retried, 1), false));
    JobId unique = add(job().uniqueKey("one"));
    JobId deadline = add(job().deadline(queries.now().plusSeconds(600)));
    JobId plain = add(job());
    assertThat(inBatch(10))
        .containsExactlyInAnyOrder(
            new Lease(unique, 1),
            new Lease(deadline, 1),
            new Lease(retried, 2),
            new Lease(plain, 1));
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    assertThat(rows("RUNNING", 2)).isEqualTo(1);
    assertThat(db.queryOne(Integer.class, "SELECT cardinality(job_ids) FROM holdfast.claim"))
        .isEqualTo(1);
  }

  @Test
  void jobs_come_by_priority_and_time_also_in_batches() {
    JobId late = add(job().priority(9));
    JobId second = add(job());
    JobId first = add(job().priority(0).uniqueKey("k"));
    assertThat(worker.claimInBatches(QUEUE, 2, WORKER, LEASE).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(first, second);
    assertThat(inBatch(2)).extracting(Lease::job).containsExactly(late);
  }

  @Test
  void jobs_in_batches_count_for_a_limit_that_is_set_meanwhile() {
    List<Lease> leases = batch(3);
    queue.enqueue(jobs(5));
    admin.limit(QUEUE, 4);
    assertThat(inBatch(10)).hasSize(1);
    assertThat(inBatch(10)).isEmpty();
    worker.settle(succeed(leases.get(0)));
    assertThat(inBatch(10)).hasSize(1);
  }

  @Test
  void limits_count_jobs_in_batches_also_of_a_queue_that_goes_by_rules_already() {
    admin.limit(QUEUE, 2);
    queue.enqueue(jobs(9));
    assertThat(inBatch(1)).hasSize(1);
    admin.limit(QUEUE, null);
    try (Queue other = batching(db.dataSource())) {
      assertThat(other.jobs().claimInBatches(QUEUE, 3, "other", LEASE).jobs()).hasSize(3);
    }
    assertThat(claims()).isEqualTo(1);
    admin.limit(QUEUE, 6);
    // The first worker knows that its last claim went by rules.
    assertThat(inBatch(9)).hasSize(2);
    assertThat(inBatch(9)).isEmpty();
    assertThat(count(JobState.RUNNING)).isEqualTo(6);
  }

  @Test
  void a_suspect_is_not_given_to_a_worker_with_a_batch_of_another_queue() {
    JobId suspect = add(job().queue("other"));
    set(suspect, "isolated = true");
    List<Lease> leases = batch(2);
    assertThat(worker.claim("other", 1, WORKER, LEASE).jobs()).isEmpty();
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    worker.settle(leases.stream().map(lease -> (Settlement) succeed(lease)).toList());
    assertThat(worker.claim("other", 1, WORKER, LEASE).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(suspect);
  }

  @Test
  void what_a_job_waits_for_runs_in_a_batch() {
    JobId job = add(job());
    JobId waiting = add(job().dependsOn(job));
    assertThat(inBatch(5)).extracting(Lease::job).containsExactly(job);
    assertThat(queries.dependencies(waiting).dependsOn())
        .extracting(JobDependencies.Related::state)
        .containsExactly(JobState.RUNNING);
  }

  @Test
  void a_claim_over_http_is_no_batch_and_a_batch_is_no_claim_over_http() {
    queue.enqueue(jobs(2));
    add(job().uniqueKey("a row of its own"));
    assertThat(worker.claimRemotely(QUEUE, 1, "remote", LEASE, null).jobs()).hasSize(1);
    assertThat(claims()).isZero();
    assertThat(heardAtClaim("remote")).containsExactly(false);
    assertThat(inBatch(5)).hasSize(2);
    assertThat(claims()).isEqualTo(1);
    assertThat(count(JobState.RUNNING)).isEqualTo(3);
    assertThat(heardAtClaim(WORKER)).containsExactly(true, true);
  }

  private static List<Object> heardAtClaim(String name) {
    return db
        .query(
            "SELECT heartbeat_at = started_at AS heard FROM holdfast.job WHERE worker_id = ?", name)
        .stream()
        .map(row -> row.get("heard"))
        .toList();
  }

  @Test
  void of_several_endings_of_a_job_in_a_batch_the_first_counts() {
    List<Lease> leases = batch(2);
    assertThat(
            worker.settle(
                List.of(
                    fail(leases.get(0), HOPELESS),
                    succeed(leases.get(0)),
                    succeed(leases.get(1)),
                    fail(leases.get(1), HOPELESS))))
        .containsExactly(Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED, Ack.LEASE_LOST);
    assertThat(state(leases.get(0).job())).isEqualTo(JobState.FAILED);
    assertThat(state(leases.get(1).job())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void what_commits_late_or_comes_back_before_the_others_is_found() throws Exception {
    try (Connection late = db.dataSource().getConnection()) {
      late.setAutoCommit(false);
      JobId job = queue.enqueue(late, jobs(1)).getFirst().id();
      queue.enqueue(jobs(600));
      Set<JobId> claimed = ConcurrentHashMap.newKeySet();
      for (int i = 0; i < 3; i++) {
        inBatch(200).forEach(lease -> claimed.add(lease.job()));
      }
      assertThat(claimed).hasSize(600).doesNotContain(job);
      late.commit();
      late.setAutoCommit(true);
      await().until(() -> inBatch(200).stream().anyMatch(lease -> lease.job().equals(job)));
    }
  }

  @Test
  void a_pause_stops_batches_too() {
    queue.enqueue(jobs(3));
    admin.pause(QUEUE);
    assertThat(inBatch(3)).isEmpty();
    admin.resume(QUEUE);
    assertThat(inBatch(3)).hasSize(3);
  }

  @Test
  void connections_with_a_stricter_isolation_claim_in_batches_too() {
    String options = "?options=-c%20default_transaction_isolation=repeatable%5C%20read";
    try (Queue strict = batching(db.dataSource(db.url() + options, 9))) {
      queue.enqueue(jobs(400));
      Set<JobId> ran = ConcurrentHashMap.newKeySet();
      Parallel.run(
          4,
          i ->
              () -> {
                List<LeasedJob> jobs;
                do {
                  jobs =
                      i % 2 == 0
                          ? strict.jobs().claimInBatches(QUEUE, 20, "w" + i, LEASE).jobs()
                          : strict.jobs().claim(QUEUE, 5, "w" + i, LEASE).jobs();
                  jobs.forEach(job -> assertThat(ran.add(job.id())).isTrue());
                } while (!jobs.isEmpty());
                return true;
              });
      assertThat(ran).hasSize(400);
      assertThat(claims()).isPositive();
    }
  }

  @Test
  void a_payload_that_cannot_be_read_fails_its_job_and_not_the_batch() {
    // Read first: it takes the server a while to find that the other one cannot be read.
    add(job());
    JobId broken = add(job());
    db.sql(
        "UPDATE holdfast.job SET payload = (SELECT jsonb_agg(1e131071::numeric)"
            + " FROM generate_series(1, 9000)) WHERE id = ?",
        broken.value());
    assertThat(inBatch(5)).hasSize(1);
    assertThat(state(broken)).isEqualTo(JobState.FAILED);
  }

  @Test
  void on_connections_that_may_not_write_jobs_are_read_as_their_rows_say() {
    Lease lease = inBatch();
    String options = "?options=-c%20default_transaction_read_only=on";
    try (Queue reader =
        new Queue(
            db.dataSource(db.url() + options, 2), new JacksonCodec(), Queue.Options.DEFAULT)) {
      assertThat(find(reader, lease.job()).state()).isEqualTo(JobState.PENDING);
      assertThat(reader.queries().statistics().byState()).containsEntry(JobState.PENDING, 1L);
    }
  }
}
