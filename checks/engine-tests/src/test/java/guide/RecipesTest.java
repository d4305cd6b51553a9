package guide;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** docs/recipes.md. */
@ExtendWith(HoldfastExtension.class)
class RecipesTest {
  record Order(UUID id, long cents) {}

  record Page(String url) {}

  private final List<String> done = new CopyOnWriteArrayList<>();
  private final Order order = new Order(UUID.randomUUID(), 4_200);
  private DataSource dataSource;
  private Holdfast holdfast;

  @BeforeEach
  void open(DataSource dataSource, Holdfast holdfast) throws SQLException {
    this.dataSource = dataSource;
    this.holdfast = holdfast;
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE orders (id uuid PRIMARY KEY, cents bigint)");
    }
  }

  private static void insertOrder(Connection connection, Order order) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO orders VALUES (?, ?)")) {
      insert.setObject(1, order.id());
      insert.setLong(2, order.cents());
      insert.executeUpdate();
    }
  }

  private <T> WorkerBuilder worker(String kind, Class<T> payload) {
    return holdfast
        .worker("default")
        .handle(
            kind,
            payload,
            (value, context) -> {
              done.add(kind + " " + value);
              return null;
            });
  }

  @Test
  void a_job_commits_with_your_data() throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      // region transaction
      connection.setAutoCommit(false);
      insertOrder(connection, order);
      holdfast.enqueue(connection, Job.of("post-invoice", order));
      connection.commit();
      // endregion
      insertOrder(connection, new Order(UUID.randomUUID(), 1));
      holdfast.enqueue(connection, Job.of("post-invoice", order));
      connection.rollback();
    }
    assertThat(holdfast).enqueued("post-invoice").withPayload(order).once();
  }

  // region chain
  Object ship(Order order, JobContext context) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      holdfast.enqueue(connection, Job.of("send-mail", order));
      holdfast.succeed(connection, context, null);
      connection.commit(); // the next job exists, and this one is done
    }
    return null;
  }

  // endregion

  @Test
  void a_handler_enqueues_the_next_job_exactly_once() {
    holdfast.enqueue(Job.of("ship", order));
    holdfast.worker("default").handle("ship", Order.class, this::ship).drain();
    assertThat(holdfast).enqueued("send-mail").once();
    assertThat(holdfast).enqueued("ship").inState(JobState.SUCCEEDED).once();
  }

  private Enqueued reindex(String shop) {
    // region debounce
    Unique waiting = Unique.by("reindex:" + shop).in(Set.of(JobState.PENDING));
    return holdfast.enqueue(Job.of("reindex", shop).unique(waiting).delay(Duration.ofSeconds(30)));
    // endregion
  }

  @Test
  void many_requests_within_half_a_minute_are_one_job(TestTime time) {
    assertThat(reindex("berlin").duplicate()).isFalse();
    assertThat(reindex("berlin").duplicate()).isTrue();
    assertThat(reindex("paris").duplicate()).isFalse();
    time.advance(Duration.ofMinutes(1), worker("reindex", String.class));
    assertThat(done).containsExactlyInAnyOrder("reindex berlin", "reindex paris");
    assertThat(reindex("berlin").duplicate()).isFalse();
  }

  @Test
  void a_reminder_is_withdrawn_when_it_is_no_longer_needed(TestTime time) {
    // region reminder
    Job reminder = Job.of("remind", order).delay(Duration.ofDays(3)).tags("order:" + order.id());
    holdfast.enqueue(reminder); // keep reminder.id() with the order, or find it by its tag:
    for (JobStatus job : holdfast.queries().list(JobFilter.ALL.tag("order:" + order.id()))) {
      holdfast.cancel(job.id(), "paid");
    }
    // endregion
    time.advance(Duration.ofDays(4), worker("remind", Order.class));
    assertThat(done).isEmpty();
    assertThat(holdfast).enqueued("remind").inState(JobState.CANCELLED).once();
  }

  private int wordsOf(Page page) {
    return page.url().length();
  }

  @Test
  void a_last_job_sums_up_what_many_have_found() {
    List<String> urls = List.of("a", "bb", "ccc");
    // region fan
    List<Job> jobs = new ArrayList<>();
    for (String url : urls) {
      jobs.add(Job.of("count-words", new Page(url)));
    }
    List<JobId> parts = jobs.stream().map(Job::id).toList();
    jobs.add(Job.of("sum-up", parts).dependsOn(parts.toArray(JobId[]::new)));
    holdfast.enqueue(jobs); // all or none
    // endregion
    WorkerBuilder worker =
        holdfast
            .worker("default")
            .handle("count-words", Page.class, (page, context) -> wordsOf(page))
            .handle("sum-up", JobId[].class, this::sumUp);
    worker.drain();
    JobId last = assertThat(holdfast).enqueued("sum-up").inState(JobState.SUCCEEDED).once().id();
    assertThat(holdfast.result(last, Integer.class)).contains(6);
    assertThat(holdfast.result(JobId.next(), Integer.class)).isEmpty();
    JobId waiting = holdfast.enqueue(Job.of("sum-up", List.of()).delay(Duration.ofDays(1))).id();
    assertThat(holdfast.result(waiting, Integer.class)).isEmpty();
  }

  // region sum
  Object sumUp(JobId[] parts, JobContext context) {
    int words = 0;
    for (JobId part : parts) {
      words += holdfast.result(part, Integer.class).orElseThrow();
    }
    return words;
  }

  // endregion

  // region request
  String quote(Order order) throws InterruptedException {
    JobId id = holdfast.enqueue(Job.of("quote", order).priority(0)).id();
    Optional<JobStatus> ended = holdfast.await(id, Duration.ofSeconds(20));
    return ended
        .flatMap(job -> holdfast.result(id, String.class))
        .orElse("see /jobs/" + id); // 202 Accepted: it goes on, or it has failed
  }

  // endregion

  @Test
  void a_request_waits_for_the_result_of_its_job() throws Exception {
    try (Worker worker =
        holdfast
            .worker("default")
            .handle("quote", Order.class, (order, context) -> order.cents() + " cents")
            .start()) {
      assertThat(quote(order)).isEqualTo("4200 cents");
      assertThat(worker.name()).startsWith("worker:default:0@");
    }
  }

  private int status = 429;

  // region limits
  Object call(Order order, JobContext context) {
    switch (post(order, context.id())) { // the id is the same in every attempt: an idempotency key
      case 200 -> {
        return Map.of("posted", true);
      }
      case 429 -> throw context.snooze(Duration.ofSeconds(30)); // no attempt is used up
      case 400 -> throw FailedException.of(FailureCategory.DATA_QUALITY, "REFUSED", "bad order");
      default ->
          throw new FailedException(
              Failure.of(FailureCategory.INFRASTRUCTURE, "UNAVAILABLE", "try again"));
    }
  }

  // endregion

  private int post(Order order, JobId key) {
    done.add(order.cents() + " " + status);
    return key.equals(JobId.parse(key.toString())) ? status : 0;
  }

  @Test
  void answers_of_a_service_decide_what_becomes_of_a_job(TestTime time) {
    // region rate
    holdfast.admin().rate("bank", 5, Duration.ofSeconds(1)); // over all workers
    holdfast.admin().limit("bank", 10);
    // endregion
    WorkerBuilder worker = holdfast.worker("bank").handle("call", Order.class, this::call);
    JobId id = holdfast.enqueue(Job.of("call", order).queue("bank")).id();
    worker.drain();
    assertThat(holdfast.find(id).orElseThrow().failures()).isZero();
    status = 200;
    time.advance(Duration.ofMinutes(1), worker);
    assertThat(holdfast.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    status = 400;
    JobId refused = holdfast.enqueue(Job.of("call", order).queue("bank")).id();
    worker.drain();
    assertThat(holdfast.find(refused).orElseThrow().state()).isEqualTo(JobState.FAILED);
    status = 503;
    JobId busy = holdfast.enqueue(Job.of("call", order).queue("bank")).id();
    worker.drain();
    assertThat(holdfast.find(busy).orElseThrow().state()).isEqualTo(JobState.RETRYING);
  }

  private Instant arrived = Instant.MAX;

  // region poll
  Object fetch(Json payload, JobContext context) {
    if (!reportIsThere()) {
      throw context.snooze(Duration.ofMinutes(10));
    }
    return Map.of("fetched", true);
  }

  // endregion

  private boolean reportIsThere() {
    done.add("looked");
    return !arrived.isAfter(Instant.now());
  }

  @Test
  void a_job_looks_again_until_something_is_there_or_its_deadline_has_come(TestTime time) {
    // region deadline
    Job job = Job.of("fetch").deadline(time.now().plus(Duration.ofHours(1)));
    // endregion
    holdfast.enqueue(job);
    WorkerBuilder worker = holdfast.worker("default").handle("fetch", Json.class, this::fetch);
    time.advance(Duration.ofMinutes(35), worker);
    assertThat(done).hasSize(4);
    arrived = Instant.MIN;
    time.advance(Duration.ofMinutes(10), worker);
    assertThat(holdfast.find(job.id()).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_great_many_jobs_are_enqueued_in_batches() {
    List<Page> pages = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      pages.add(new Page("https://example.org/" + i));
    }
    // region bulk
    for (int from = 0; from < pages.size(); from += 1_000) {
      List<Page> some = pages.subList(from, Math.min(from + 1_000, pages.size()));
      holdfast.enqueue(
          some.stream().map(page -> Job.of("crawl", page).uniqueKey(page.url())).toList());
    }
    // endregion
    assertThat(holdfast).enqueued("crawl").times(2_500);
  }
}
