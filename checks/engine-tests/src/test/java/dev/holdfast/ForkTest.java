package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Jobs that go on from a step of another one, which stays as it is. */
class ForkTest extends LibraryTest {
  private final List<String> done = new CopyOnWriteArrayList<>();

  private Object steps(Json payload, JobContext context) {
    int one = context.step("one", Integer.class, () -> did("one", 1));
    int two = context.step("two", Integer.class, () -> did("two", 2));
    String last = context.step("three", String.class, () -> did("three", payload.text()));
    return one + two + last;
  }

  private <T> T did(String what, T result) {
    done.add(what);
    return result;
  }

  private JobId succeeded() {
    JobId job = enqueue(Job.of("steps", "a"));
    drain(this::steps);
    done.clear();
    return job;
  }

  private void drain(Handler<Json> handler) {
    // A parent may be freed a moment after its last child has ended, on another thread.
    until(
        () -> {
          worker(Job.DEFAULT_QUEUE, "children")
              .handle(Kind.of("steps", Json.class, handler).retry(AT_ONCE))
              .handle("child", Integer.class, (number, context) -> number * 10)
              .drain();
          return db.count(
                  "SELECT count(*) FROM holdfast.job WHERE state = 'PENDING' OR wait_sort = 'CHILDREN'")
              == 0;
        });
  }

  private JobFork.Outcome forked(JobId job, JobFork fork) {
    return holdfast.jobs().fork(job, fork, "ada", Tenant.ANY);
  }

  private static JobFork from(String step) {
    return new JobFork(step, 1, null, null);
  }

  private JobId fork(JobId job, String step) {
    JobFork.Outcome outcome = forked(job, from(step));
    assertThat(outcome.answer()).isEqualTo(JobFork.Answer.FORKED);
    return outcome.jobs().getFirst();
  }

  /** All that is known of a job. */
  private String row(JobId job) {
    return db.queryOne(
        String.class,
        "SELECT to_jsonb(j)::text"
            + " || (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.step_id), '[]')::text"
            + "       FROM holdfast.step s WHERE s.job_id = j.id)"
            + " || (SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e.number), '[]')::text"
            + "       FROM holdfast.event e WHERE e.job_id = j.id)"
            + " FROM holdfast.job j WHERE j.id = '"
            + job
            + "'");
  }

  // ---- of jobs in each state

  @Test
  void a_fork_of_a_job_that_has_succeeded_does_the_step_and_all_after_it_again() {
    JobId job = succeeded();
    String before = row(job);
    JobId fork = fork(job, "two");
    assertThat(job(fork).state()).isEqualTo(JobState.PENDING);
    drain(this::steps);
    assertThat(done).containsExactly("two", "three");
    assertThat(result(fork)).isEqualTo("\"3\\\"a\\\"\"");
    assertThat(row(job)).as("the original is not changed").isEqualTo(before);
  }

  @Test
  void a_fork_of_a_job_that_has_failed_has_budgets_of_its_own() {
    JobId job = enqueue(Job.of("steps", "a").maxAttempts(2));
    Handler<Json> failing =
        (payload, context) -> {
          int one = context.step("one", Integer.class, () -> did("one", 1));
          throw new IllegalStateException("broken after " + one);
        };
    drain(failing);
    until(() -> job(job).state() == JobState.FAILED || retried(failing));
    assertThat(job(job).failures()).isEqualTo(2);
    done.clear();
    JobId fork = fork(job, "one");
    JobId later = forked(job, from("one")).jobs().getFirst();
    assertThat(fork).isNotEqualTo(later);
    assertThat(job(fork)).extracting(JobStatus::failures, JobStatus::attempt).containsExactly(0, 0);
    assertThat(job(fork).maxAttempts()).isEqualTo(2);
    drain(this::steps);
    assertThat(job(fork).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(done).contains("one", "two", "three");
  }

  private boolean retried(Handler<Json> handler) {
    drain(handler);
    return false;
  }

  private Object waiting(Json payload, JobContext context) {
    int one = context.step("one", Integer.class, () -> did("one", 1));
    String said =
        context
            .await("first", "go", PayloadType.of(String.class), Duration.ofDays(1))
            .orElseThrow();
    String more =
        context
            .await("second", "go", PayloadType.of(String.class), Duration.ofDays(1))
            .orElseThrow();
    return one + said + more;
  }

  @Test
  void a_fork_of_a_waiting_job_has_what_waits_have_brought_and_waits_itself_from_there() {
    JobId job = enqueue(Job.of("steps"));
    drain(this::waiting);
    holdfast.signal(job, "go", "a");
    drain(this::waiting);
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    String before = row(job);
    done.clear();
    JobId fork = fork(job, "second");
    assertThat(row(job)).isEqualTo(before);
    drain(this::waiting);
    assertThat(job(fork).state()).isEqualTo(JobState.WAITING);
    holdfast.signal(fork, "go", "b");
    drain(this::waiting);
    assertThat(result(fork)).isEqualTo("\"1ab\"");
    assertThat(done).isEmpty();
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void signals_that_nobody_has_taken_stay_with_the_original() {
    JobId job = enqueue(Job.of("steps"));
    drain(this::waiting);
    holdfast.signal(job, "other", "x");
    JobId fork = fork(job, "first");
    assertThat(db.count("SELECT count(*) FROM holdfast.signal WHERE job_id = '" + fork + "'"))
        .isZero();
  }

  @Test
  void a_fork_of_a_running_job_has_what_is_committed_and_its_worker_goes_on() {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    JobId job = enqueue(Job.of("steps", "a"));
    Worker running =
        start(
            worker()
                .concurrency(1)
                .handle(
                    "steps",
                    Json.class,
                    (payload, context) -> {
                      int one = context.step("one", Integer.class, () -> did("one", 1));
                      reached.countDown();
                      ignoreInterruptsWhile(() -> goOn.getCount() > 0);
                      return one + context.step("two", Integer.class, () -> did("two", 2));
                    }));
    until(reached);
    JobId fork = fork(job, "one");
    assertThat(forked(job, from("two")).answer()).isEqualTo(JobFork.Answer.NO_SUCH_STEP);
    goOn.countDown();
    await(job, JobState.SUCCEEDED);
    await(fork, JobState.SUCCEEDED);
    running.close();
    assertThat(done).containsExactlyInAnyOrder("one", "two", "one", "two");
  }

  // ---- what it has

  @Test
  void a_fork_says_of_what_it_is_one_and_has_neither_key_nor_parent() {
    Instant deadline = Instant.now().plus(Duration.ofDays(1));
    JobId job =
        enqueue(
            Job.of("steps", "a")
                .uniqueKey("only")
                .concurrencyKey("one", 1)
                .priority(2)
                .deadline(deadline)
                .tags("red"));
    drain(this::steps);
    JobId fork = fork(job, "three");
    JobStatus found = job(fork);
    assertThat(found.forkedFrom()).isEqualTo(new ForkedFrom(job, "three"));
    assertThat(found.run()).isEqualTo(job(job).run());
    assertThat(found.uniqueKey()).isNull();
    assertThat(found.parent()).isNull();
    assertThat(found.concurrencyKey()).isEqualTo("one");
    assertThat(found.priority()).isEqualTo(2);
    assertThat(found.attributes().tags()).containsExactly("red");
    assertThat(found.deadline()).as("as long as the job had").isAfterOrEqualTo(deadline);
    assertThat(timeline(fork)).containsExactly("created", "forked");
    assertThat(holdfast.queries().timeline(fork).getLast().data().text())
        .contains(job.toString(), "\"three\"", "\"ada\"", "2");
    assertThat(holdfast.queries().dependencies(job).forks())
        .extracting(JobDependencies.Related::id)
        .containsExactly(fork);
    assertThat(holdfast.queries().timeline(job))
        .extracting(JobEvent::type)
        .doesNotContain("forked");
  }

  @Test
  void a_fork_from_the_first_step_has_done_nothing_and_no_version() {
    JobId job = enqueue(Job.of("steps", "a"));
    Kind<Json> kind = Kind.of("steps", Json.class, this::steps);
    worker().handle(kind.version(1)).drain();
    done.clear();
    JobId first = fork(job, "one");
    JobId second = fork(job, "two");
    assertThat(job(first).version()).isNull();
    assertThat(job(second).version()).isEqualTo(1);
    assertThat(holdfast.queries().steps(first)).isEmpty();
    worker().handle(kind.version(2)).drain();
    assertThat(done).containsExactly("one", "two", "three");
    assertThat(job(second).state())
        .as("version 1 has done a part of it")
        .isEqualTo(JobState.PENDING);
    worker().handle(kind.version(1)).drain();
    assertThat(job(second).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void several_forks_with_another_payload_run_side_by_side() {
    JobId job = succeeded();
    JobFork.Outcome three = forked(job, new JobFork("three", 3, new Json("\"b\""), null));
    assertThat(three.jobs()).hasSize(3).doesNotHaveDuplicates();
    drain(this::steps);
    assertThat(done).containsExactly("three", "three", "three");
    three.jobs().forEach(each -> assertThat(result(each)).isEqualTo("\"3\\\"b\\\"\""));
  }

  @Test
  void forks_are_made_once_for_a_key() {
    JobId job = succeeded();
    JobFork fork = new JobFork("two", 2, null, "again");
    List<JobId> made = forked(job, fork).jobs();
    JobFork.Outcome again = forked(job, fork);
    assertThat(again.answer()).isEqualTo(JobFork.Answer.DUPLICATE);
    assertThat(again.jobs()).isEqualTo(made);
    for (JobFork other :
        List.of(
            new JobFork("three", 2, null, "again"),
            new JobFork("two", 1, null, "again"),
            new JobFork("two", 3, null, "again"),
            new JobFork("two", 2, new Json("5"), "again"))) {
      assertThat(forked(job, other).answer()).isEqualTo(JobFork.Answer.KEY_REUSED);
    }
    assertThat(holdfast.queries().dependencies(job).forks()).hasSize(2);
  }

  @Test
  void a_fork_may_be_forked() {
    JobId job = succeeded();
    JobId fork = fork(job, "two");
    drain(this::steps);
    done.clear();
    JobId second = fork(fork, "three");
    drain(this::steps);
    assertThat(done).containsExactly("three");
    assertThat(job(second).forkedFrom()).isEqualTo(new ForkedFrom(fork, "three"));
  }

  // ---- jobs that it has started

  private Object parent(Json payload, JobContext context) {
    List<Child> children =
        context.spawn(
            "start",
            List.of(Job.of("child", 1).queue("children"), Job.of("child", 2).queue("children")));
    int joined = context.join("joined", children).size();
    int seen = context.step("seen", Integer.class, () -> did("seen", joined));
    int first = context.any("any", children).result().text().length();
    int again = context.join("again", children).size();
    List<Integer> own =
        context.map("own", List.of(3), n -> Job.of("child", n).queue("children"), Integer.class);
    return List.of(seen, first, again, own.getFirst());
  }

  @Test
  void a_fork_reads_the_results_of_jobs_that_were_started_before_its_step_and_starts_its_own() {
    JobId job = enqueue(Job.of("steps"));
    drain(this::parent);
    assertThat(result(job)).isEqualTo("[2, 2, 2, 30]");
    long jobs = db.count("SELECT count(*) FROM holdfast.job");
    for (String step : List.of("joined", "seen", "any", "again", "own")) {
      JobId fork = fork(job, step);
      drain(this::parent);
      assertThat(result(fork)).as(step).isEqualTo("[2, 2, 2, 30]");
      assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(jobs += 2);
      JobId ofFork = fork(fork, "own");
      drain(this::parent);
      assertThat(result(ofFork)).as("a fork of a fork").isEqualTo("[2, 2, 2, 30]");
      assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(jobs += 2);
    }
    JobId all = fork(job, "start");
    drain(this::parent);
    assertThat(result(all)).isEqualTo("[2, 2, 2, 30]");
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(jobs + 4);
  }

  @Test
  void
      a_fork_is_refused_while_jobs_run_that_were_started_before_its_step_and_retention_keeps_them() {
    JobId job = enqueue(Job.of("steps"));
    worker().handle("steps", Json.class, this::parent).drain();
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    JobFork.Outcome refused = forked(job, from("joined"));
    assertThat(refused.answer()).isEqualTo(JobFork.Answer.CHILDREN_RUN);
    assertThat(from("joined").refusal(refused)).contains("'start' have not ended");
    assertThat(forked(job, from("start")).answer()).isEqualTo(JobFork.Answer.FORKED);
    drain(this::parent);
    assertThat(job(job).state()).isEqualTo(JobState.SUCCEEDED);
    JobId fork = fork(job, "seen");
    holdfast.store().maintenance().retain(JobState.SUCCEEDED, Duration.ZERO);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE parent_id = '" + job + "'"))
        .as("a fork needs them")
        .isEqualTo(3);
    drain(this::parent);
    assertThat(job(fork).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_fork_of_which_jobs_are_deleted_that_were_started_before_it_is_refused_or_fails() {
    JobId job = enqueue(Job.of("steps"));
    drain(this::parent);
    JobId late = fork(job, "seen");
    db.sql("DELETE FROM holdfast.job WHERE parent_id = ?", job.value());
    assertThat(forked(job, from("seen")).answer()).isEqualTo(JobFork.Answer.CHILDREN_GONE);
    drain(this::parent);
    assertThat(failure(late).message()).contains("2 of 2 have been deleted");
  }

  // ---- refused

  @Test
  void a_step_that_the_job_does_not_have_is_refused_with_those_that_it_has() {
    JobId job = succeeded();
    JobFork.Outcome refused = forked(job, from("four"));
    assertThat(refused.answer()).isEqualTo(JobFork.Answer.NO_SUCH_STEP);
    assertThat(from("four").refusal(refused)).contains("'four'").contains("one, two, three");
    JobId waits = enqueue(Job.of("steps"));
    drain(this::waiting);
    assertThat(forked(waits, from("four")).steps()).containsExactly("one", "first");
    JobId none = enqueue(Job.of("steps").queue("elsewhere"));
    assertThat(from("one").refusal(forked(none, from("one")))).contains("begun none");
  }

  @Test
  void jobs_of_other_tenants_and_unknown_ones_are_not_there() {
    JobId job = succeeded();
    assertThat(holdfast.jobs().fork(job, from("two"), "ada", Tenant.of("other")).answer())
        .isEqualTo(JobFork.Answer.NO_SUCH_JOB);
    assertThat(forked(JobId.next(), from("two")).answer()).isEqualTo(JobFork.Answer.NO_SUCH_JOB);
  }

  @Test
  void limits_are_refused_with_what_would_be_right() {
    assertThatThrownBy(() -> new JobFork("s", 0, null, null)).hasMessageContaining("1 and 100");
    assertThatThrownBy(() -> new JobFork("s", 101, null, null)).hasMessageContaining("1 and 100");
    assertThatThrownBy(() -> from("no such\nstep")).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> new JobFork("s", 1, new Json("\"" + "x".repeat(2 << 20) + "\""), null))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void more_than_can_be_copied_at_once_is_refused() {
    JobId job = succeeded();
    db.sql("UPDATE holdfast.step SET patch = repeat('x', 3 * 1024 * 1024)::bytea");
    JobFork.Outcome refused = forked(job, new JobFork("three", 100, null, null));
    assertThat(refused.answer()).isEqualTo(JobFork.Answer.TOO_LARGE);
    assertThat(forked(job, from("three")).answer()).isEqualTo(JobFork.Answer.FORKED);
  }

  @Test
  void a_job_whose_payload_could_not_be_read_is_forked_with_another_one() {
    JobId job = succeeded();
    db.sql(
        "INSERT INTO holdfast.unreadable_payload (job_id, found_at) VALUES (?, now())",
        job.value());
    assertThat(forked(job, from("two")).answer()).isEqualTo(JobFork.Answer.NO_PAYLOAD);
    assertThat(forked(job, new JobFork("two", 1, new Json("1"), null)).answer())
        .isEqualTo(JobFork.Answer.FORKED);
  }
}
