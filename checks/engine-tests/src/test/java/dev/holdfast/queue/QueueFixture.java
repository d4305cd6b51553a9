package dev.holdfast.queue;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** An empty queue for each test, and helper methods. */
@ExtendWith(DatabaseExtension.class)
public abstract class QueueFixture {
  public static final String QUEUE = Job.DEFAULT_QUEUE;
  public static final String WORKER = "worker:default:1";
  public static final Duration LEASE = Duration.ofSeconds(30);
  public static final Duration GRACE = Duration.ofSeconds(30);
  public static final Failure FLAKY = Failure.of(FailureCategory.USER_CODE, "FLAKY", "it broke");
  public static final Failure HOPELESS =
      Failure.of(FailureCategory.DATA_QUALITY, "BAD_ROW", "no price");

  public static final Backoff BACKOFF = new Backoff(RetryDefaults.NONE);

  public static TestDatabase db;

  /** The queue, opened again for each test. */
  public JobStore opened;

  public JobQueue queue;
  public Queries queries;
  public Admin admin;
  public Maintenance maintenance;
  private final List<JobStore> others = new ArrayList<>();

  @BeforeAll
  protected static void create(TestDatabase database) {
    db = database;
    db.sql(TransitionGuard.sql());
    db.sql(TransitionGuard.DISABLE_TRIGGERS);
  }

  @BeforeEach
  protected void open() {
    db.sql(
        "TRUNCATE holdfast.job, holdfast.claim, holdfast.queue, holdfast.workers_pause, holdfast.api_key,"
            + " holdfast.signing_key, holdfast.idempotency_key, holdfast.history, holdfast.queue_depth,"
            + " holdfast.history_cursor, public.seen CASCADE");
    opened = new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT);
    queue = opened.jobs();
    queries = opened.queries();
    admin = opened.admin();
    maintenance = opened.maintenance();
  }

  @AfterEach
  protected void close() {
    others.forEach(JobStore::close);
    opened.close();
  }

  /** Another client of the same database, with its own connections. */
  protected JobStore another() {
    JobStore other =
        new JobStore(db.dataSource(db.url(), 10), new JacksonCodec(), JobStore.Options.DEFAULT);
    others.add(other);
    return other;
  }

  protected static Job job() {
    return Job.of("test");
  }

  protected static List<Job> jobs(int count) {
    return IntStream.range(0, count).mapToObj(i -> job()).toList();
  }

  protected JobId add(Job job) {
    return queue.enqueue(job).id();
  }

  protected List<LeasedJob> claim(int most) {
    return queue.claim(new ClaimRequest(QUEUE, most, WORKER, LEASE)).jobs();
  }

  protected Lease claimOne() {
    return claimOne(QUEUE).lease();
  }

  private LeasedJob claimOne(String name) {
    List<LeasedJob> claimed = queue.claim(new ClaimRequest(name, 1, WORKER, LEASE)).jobs();
    assertThat(claimed).hasSize(1);
    return claimed.getFirst();
  }

  protected Lease addAndClaim(Job job) {
    JobId id = add(job);
    LeasedJob claimed = claimOne(job.queue());
    assertThat(claimed.id()).isEqualTo(id);
    return claimed.lease();
  }

  protected Lease running() {
    return addAndClaim(job());
  }

  /** As if the last heartbeat had been an hour ago, with a lease of zero length. */
  protected void expire(Lease lease) {
    int rows =
        db.sql(
            "UPDATE holdfast.job SET heartbeat_at = heartbeat_at - interval '1 hour',"
                + " lease_expires_at = heartbeat_at - interval '1 hour'"
                + " WHERE id = ? AND attempt = ? AND state = 'RUNNING'",
            lease.job().value(),
            lease.attempt());
    assertThat(rows).isEqualTo(1);
  }

  /** As if the job's backoff or delay were over. */
  protected void comeDue(JobId job) {
    db.sql("UPDATE holdfast.job SET run_at = run_at - interval '1 day' WHERE id = ?", job.value());
  }

  /** Sets columns of a job by hand. */
  protected void set(JobId job, String assignments) {
    assertThat(db.sql("UPDATE holdfast.job SET " + assignments + " WHERE id = ?", job.value()))
        .isEqualTo(1);
  }

  protected JobStatus status(JobId job) {
    return queries.find(job).orElseThrow();
  }

  protected JobState state(JobId job) {
    return status(job).state();
  }

  protected Failure failure(JobId job) {
    Failure failure = status(job).failure();
    return failure == null ? Assertions.fail("job %s has no failure", job) : failure;
  }

  protected List<String> events(JobId job) {
    return queries.timeline(job).stream().map(JobEvent::type).toList();
  }

  protected long count(JobState state) {
    return queries.statistics(Tenant.ANY).byState().getOrDefault(state, 0L);
  }

  /** All rows of a job as one text, to see whether anything in them changed. */
  protected String row(JobId job) {
    return JobRows.of(db, job).toString();
  }

  /** Returns once some statement on this database waits for a lock. */
  public void awaitLockWait() {
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(5))
        .until(
            () ->
                db.count(
                        "SELECT count(*) FROM pg_stat_activity"
                            + " WHERE datname = ? AND wait_event_type = 'Lock'",
                        db.name())
                    > 0);
  }

  /** A verb in a transaction that is still open. */
  @FunctionalInterface
  protected interface First {
    void on(Connection connection) throws SQLException;
  }

  /** Runs the second verb while the first is open, until it waits for a lock of the first. */
  protected <T> T after(First first, Callable<T> second) throws SQLException {
    try (ExecutorService pool = Executors.newSingleThreadExecutor();
        Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      first.on(connection);
      Future<T> waiting = pool.submit(second);
      awaitLockWait();
      connection.commit();
      return Parallel.get(waiting);
    }
  }

  public static Settlement.Succeed succeed(Lease lease) {
    return new Settlement.Succeed(lease, new Json("{\"ok\": true}"));
  }

  public static Settlement.Fail fail(Lease lease, Failure failure) {
    return new Settlement.Fail(lease, failure, Duration.ZERO);
  }

  protected static void assertRefused(Refusal refusal, ThrowingCallable call) {
    Assertions.assertThatThrownBy(call)
        .isInstanceOf(RefusedException.class)
        .satisfies(thrown -> assertThat(((RefusedException) thrown).refusal()).isEqualTo(refusal));
  }
}
