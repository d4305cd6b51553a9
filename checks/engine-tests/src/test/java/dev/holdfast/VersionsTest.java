package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.UnservedVersion;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A job goes on with the version of its handler with which it has begun. */
class VersionsTest extends LibraryTest {
  private final List<String> done = new CopyOnWriteArrayList<>();

  /** Does a step, waits for a signal, and does another step. */
  private Object waits(String version, JobContext context) {
    context.step("first", () -> done.add("first by " + version));
    Object unused = context.await("go", String.class);
    context.step("second", () -> done.add("second by " + version));
    return version;
  }

  private Kind<Json> waiting(int version) {
    Kind<Json> kind =
        Kind.of("job", Json.class, (payload, context) -> waits("v" + version, context));
    return version == 0 ? kind : kind.version(version);
  }

  private WorkerBuilder with(int... versions) {
    WorkerBuilder builder = worker();
    for (int version : versions) {
      builder.handle(waiting(version));
    }
    return builder;
  }

  private JobId begunWith(int version) {
    JobId job = enqueue(Job.of("job"));
    with(version).drain();
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    return job;
  }

  private JobId resumedAfter(int version) {
    JobId job = begunWith(version);
    holdfast.signal(job, "go", "now");
    assertThat(job(job).state()).isEqualTo(JobState.PENDING);
    return job;
  }

  private void isLeftBy(JobId job, int... versions) {
    int attempts = job(job).attempt();
    with(versions).drain();
    assertThat(job(job).state()).isEqualTo(JobState.PENDING);
    assertThat(job(job).attempt()).as("it is not even claimed").isEqualTo(attempts);
  }

  // ---- both orders of a deploy

  @Test
  void an_old_job_is_left_alone_by_a_newer_version_and_continued_by_its_own() {
    JobId job = resumedAfter(1);
    assertThat(job(job).version()).isEqualTo(1);
    isLeftBy(job, 2);
    with(1).drain();
    assertThat(result(job)).isEqualTo("\"v1\"");
    assertThat(done).containsExactly("first by v1", "second by v1");
  }

  @Test
  void a_new_job_is_left_alone_by_an_older_version_and_continued_by_its_own() {
    JobId job = resumedAfter(2);
    isLeftBy(job, 1);
    with(2).drain();
    assertThat(done).containsExactly("first by v2", "second by v2");
  }

  @Test
  void workers_of_both_versions_go_on_with_their_own_jobs_side_by_side() {
    JobId old = begunWith(1);
    JobId young = begunWith(2);
    Worker one = start(with(1));
    Worker two = start(with(2));
    holdfast.signal(young, "go", "now");
    holdfast.signal(old, "go", "now");
    await(old, JobState.SUCCEEDED);
    await(young, JobState.SUCCEEDED);
    assertThat(done).contains("second by v1", "second by v2");
    assertThat(result(old)).isEqualTo("\"v1\"");
    assertThat(result(young)).isEqualTo("\"v2\"");
    assertThat(one.running()).isEmpty();
    assertThat(two.running()).isEmpty();
  }

  @Test
  void a_worker_may_have_several_versions_and_begins_new_jobs_with_the_highest() {
    JobId old = resumedAfter(1);
    JobId young = enqueue(Job.of("job"));
    with(1, 2).drain();
    assertThat(result(old)).isEqualTo("\"v1\"");
    assertThat(job(young).version()).isEqualTo(2);
    holdfast.signal(young, "go", "now");
    with(2, 1).drain();
    assertThat(result(young)).isEqualTo("\"v2\"");
  }

  // ---- with and without

  @Test
  void
      a_job_that_has_begun_without_a_version_goes_on_with_whatever_there_is_and_keeps_its_version() {
    JobId job = begunWith(0);
    assertThat(job(job).version()).isNull();
    holdfast.signal(job, "go", "now");
    with(3).drain();
    assertThat(result(job)).isEqualTo("\"v3\"");
    assertThat(job(job).version()).isEqualTo(3);
  }

  @Test
  void a_handler_without_a_version_leaves_jobs_alone_that_have_begun_with_one() {
    JobId job = resumedAfter(1);
    isLeftBy(job, 0);
  }

  @Test
  void a_job_of_which_nothing_was_stored_has_no_version() {
    JobId job = enqueue(Job.of("plain").maxAttempts(2));
    Handler<Json> failing =
        (payload, context) -> {
          throw new IllegalStateException("broken");
        };
    worker().handle(Kind.of("plain", Json.class, failing).retry(AT_ONCE).version(1)).drain();
    assertThat(job(job).version()).isNull();
    holdfast.jobs().retry(List.of(job), Tenant.ANY);
    worker().handle(Kind.of("plain", Json.class, (payload, context) -> "v2").version(2)).drain();
    assertThat(result(job)).isEqualTo("\"v2\"");
  }

  @Test
  void starting_jobs_and_waiting_keep_the_version_too() {
    JobId starts = enqueue(Job.of("starts"));
    JobId sleeps = enqueue(Job.of("sleeps"));
    worker()
        .handle(
            Kind.of(
                    "starts",
                    Json.class,
                    (p, context) -> context.spawn("c", Job.of("elsewhere").queue("elsewhere")).id())
                .version(4))
        .handle(
            Kind.of(
                    "sleeps",
                    Json.class,
                    (p, context) -> {
                      context.sleep("s", Duration.ofDays(1));
                      return null;
                    })
                .version(5))
        .drain();
    assertThat(job(starts).version()).isEqualTo(4);
    assertThat(job(sleeps).version()).isEqualTo(5);
  }

  @Test
  void the_next_turn_of_a_loop_begins_without_a_version() {
    JobId first = enqueue(Job.of("loop", 1));
    Kind<Integer> loop =
        Kind.of(
            "loop",
            Integer.class,
            (turn, context) -> {
              context.step("turn", () -> done.add("turn " + turn));
              return turn == 1 ? context.continueAs(2) : context.await("stop", String.class);
            });
    // The second turn begins with the newer code, although the first one ran with the older.
    worker().handle(loop.version(1)).drain();
    JobId second = JobId.ofSuccessor(first);
    assertThat(job(first).version()).isEqualTo(1);
    assertThat(job(second).version()).isEqualTo(1);
    JobId another = enqueue(Job.of("loop", 1));
    JobId next = JobId.ofSuccessor(another);
    worker()
        .handle(
            Kind.of(
                    "loop",
                    Integer.class,
                    (turn, context) -> {
                      context.step("turn", () -> done.add("turn " + turn));
                      return turn == 1 ? context.continueAs(2) : "ended";
                    })
                .version(1))
        .drain();
    assertThat(job(next).version()).isEqualTo(1);
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE version = 0")).isZero();
  }

  // ---- crashes and rules

  @Test
  void a_crash_after_the_first_step_leaves_the_job_to_its_version() throws Exception {
    JobId job = enqueue(Job.of("job").maxCrashes(1000));
    Kind<Json> hanging =
        Kind.of(
                "job",
                Json.class,
                (Json payload, JobContext context) -> {
                  context.step("first", () -> done.add("first by v1"));
                  takeAway(context.id());
                  return waits("v1", context);
                })
            .version(1);
    Worker crashing = start(worker().handle(hanging));
    until(() -> job(job).crashes() > 0);
    crashing.close();
    assertThat(job(job).version()).isEqualTo(1);
    isLeftBy(job, 2);
    with(1).drain();
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    assertThat(done).doesNotContain("first by v2");
  }

  @Test
  void jobs_with_concurrency_keys_and_suspects_are_left_to_their_version_too() {
    JobId keyed = enqueue(Job.of("job").concurrencyKey("one", 1));
    with(1).drain();
    holdfast.signal(keyed, "go", "now");
    isLeftBy(keyed, 2);
    db.sql("UPDATE holdfast.job SET isolated = true");
    isLeftBy(keyed, 2);
    with(1).drain();
    assertThat(result(keyed)).isEqualTo("\"v1\"");
  }

  @Test
  void jobs_that_nobody_here_may_claim_hold_up_no_others() {
    for (int i = 0; i < 20; i++) {
      holdfast.signal(begunWith(1), "go", "now");
      // Due, but not before the others have begun.
      db.sql("UPDATE holdfast.job SET run_at = now() + interval '1 hour' WHERE state = 'PENDING'");
    }
    db.sql("UPDATE holdfast.job SET run_at = now() - interval '1 hour'");
    JobId young = enqueue(Job.of("job").priority(9));
    with(2).concurrency(1).drain();
    assertThat(job(young).version()).isEqualTo(2);
  }

  // ---- health

  private List<UnservedVersion> unserved() {
    return holdfast.queries().warnings(Tenant.ANY, Duration.ZERO).unserved();
  }

  private void announce(int... versions) {
    for (int version : versions) {
      holdfast
          .jobs()
          .announce(
              List.of(Job.DEFAULT_QUEUE), List.of("job"), List.of(new KindVersion("job", version)));
    }
  }

  @Test
  void a_version_that_jobs_need_and_no_live_worker_has_is_named_with_how_many_and_since_when() {
    announce(1, 2);
    JobId waits = begunWith(1);
    resumedAfter(1);
    begunWith(2);
    assertThat(unserved()).isEmpty();
    Instant seen = Instant.parse("2026-01-01T00:00:00Z");
    db.sql(
        "UPDATE holdfast.handled_version SET seen_at = ?::timestamptz WHERE version = 1",
        seen.toString());
    db.sql("UPDATE holdfast.job SET started_at = '2025-12-31T00:00:00Z' WHERE version = 1");
    db.sql("DELETE FROM holdfast.worker_poll");
    assertThat(unserved())
        .containsExactly(new UnservedVersion(Job.DEFAULT_QUEUE, "job", 1, 2, seen));
    assertThat(holdfast.queries().warnings(Tenant.of("another"), Duration.ZERO).unserved())
        .isEmpty();
    var unused = holdfast.jobs().cancel(List.of(waits), false, "no need", Tenant.ANY);
    assertThat(unserved().getFirst().jobs()).isEqualTo(1);
    announce(1);
    assertThat(unserved()).isEmpty();
  }

  // ---- what a handler no longer asks for

  private List<String> unused(JobId job) {
    return holdfast.queries().timeline(job).stream()
        .filter(event -> event.type().equals(EventType.STEPS_UNUSED))
        .map(JobEvent::data)
        .map(Json::text)
        .toList();
  }

  @Test
  void steps_and_waits_that_the_handler_no_longer_asks_for_are_named_in_the_timeline() {
    JobId asksLess = begunWith(0);
    JobId asksNothing = begunWith(0);
    JobId asksAll = begunWith(0);
    List.of(asksLess, asksNothing, asksAll).forEach(each -> holdfast.signal(each, "go", "now"));
    worker()
        .handle(
            "job",
            Json.class,
            (payload, context) -> {
              if (context.id().equals(asksLess)) {
                context.step("first", () -> done.add("again"));
              } else if (context.id().equals(asksAll)) {
                return waits("v0", context);
              }
              return null;
            })
        .drain();
    assertThat(unused(asksLess)).hasSize(1).first().asString().contains("\"go\"").contains("1");
    assertThat(unused(asksLess).getFirst()).doesNotContain("\"first\"");
    assertThat(unused(asksNothing)).hasSize(1).first().asString().contains("\"first\"", "\"go\"");
    assertThat(unused(asksAll)).isEmpty();
    assertThat(done).doesNotContain("again");
  }

  @Test
  void of_very_many_steps_that_are_not_asked_for_twenty_are_named() {
    JobId job = enqueue(Job.of("job"));
    worker()
        .handle(
            "job",
            Json.class,
            (payload, context) -> {
              for (int i = 0; i < 30; i++) {
                context.step("s" + i, () -> {});
              }
              return context.await("go", String.class);
            })
        .drain();
    holdfast.signal(job, "go", "now");
    worker().handle("job", Json.class, (payload, context) -> null).drain();
    assertThat(unused(job)).hasSize(1);
    assertThat(unused(job).getFirst()).contains("31").contains("\"s19\"").doesNotContain("\"s20\"");
  }

  // ---- registration

  @Test
  void a_version_has_one_handler_and_a_kind_has_versions_or_none() {
    assertThatThrownBy(() -> with(1, 1)).hasMessageContaining("version 1 of kind 'job'");
    assertThatThrownBy(() -> with(0, 1)).hasMessageContaining("give each a version");
    assertThatThrownBy(() -> with(1, 0)).hasMessageContaining("give each a version");
    assertThatThrownBy(() -> waiting(1).version(0)).hasMessageContaining("from 1 to 32,767");
    assertThatThrownBy(() -> waiting(1).version(32_768)).hasMessageContaining("from 1 to 32,767");
  }
}
