package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits over all workers: per queue and per concurrency key. */
class ConcurrencyTest extends QueueFixture {
  private static Job keyed(String key, int limit) {
    return job().concurrencyKey(key, limit);
  }

  private long runningNow() {
    return db.count("SELECT count(*) FROM holdfast.job WHERE state = 'RUNNING'");
  }

  /** The most jobs of one key that ever ran at once, as the database saw it at each claim. */
  private void watchRunning() {
    db.sql(
        """
        CREATE TABLE IF NOT EXISTS public.most (running bigint, key text);
        TRUNCATE public.most;
        CREATE OR REPLACE FUNCTION public.tally() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.most
          SELECT count(*), concurrency_key FROM holdfast.job
           WHERE state = 'RUNNING' GROUP BY concurrency_key;
          RETURN NULL;
        END $$;
        CREATE OR REPLACE TRIGGER tally AFTER UPDATE ON holdfast.job
          FOR EACH STATEMENT EXECUTE FUNCTION public.tally();
        """);
  }

  private long mostAtOnce() {
    db.sql("DROP TRIGGER tally ON holdfast.job");
    return db.count("SELECT max(running) FROM public.most");
  }

  /** Eight workers that claim and finish until all jobs are done. The first claim is alone. */
  private void drain(int jobs, int first) {
    AtomicInteger done = new AtomicInteger(finished(claim(jobs)));
    assertThat(done).hasValue(first);
    Parallel.run(
        8,
        i ->
            () -> {
              while (done.get() < jobs) {
                done.addAndGet(
                    finished(
                        queue.claim(new ClaimRequest(QUEUE, 1 + i % 4, "w" + i, LEASE)).jobs()));
              }
              return true;
            });
  }

  private int finished(List<LeasedJob> jobs) {
    queue.settle(jobs.stream().map(job -> (Settlement) succeed(job.lease())).toList());
    return jobs.size();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void eight_workers_never_run_more_jobs_of_a_queue_than_its_limit(int limit) {
    admin.limit(QUEUE, limit);
    queue.enqueue(jobs(120));
    watchRunning();
    drain(120, limit);
    assertThat(mostAtOnce()).isEqualTo(limit);
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(120);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void eight_workers_never_run_more_jobs_of_a_key_than_its_limit(int limit) {
    queue.enqueue(IntStream.range(0, 120).mapToObj(i -> keyed("key-" + i % 2, limit)).toList());
    watchRunning();
    drain(120, 2 * limit);
    assertThat(mostAtOnce()).isEqualTo(limit);
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(120);
  }

  @Test
  void the_limits_hold_on_connections_with_stricter_isolation() {
    String options = "?options=-c%20default_transaction_isolation=repeatable%5C%20read";
    DataSource strict = db.dataSource(db.url() + options, 9);
    try (JobStore other = new JobStore(strict, new JacksonCodec(), JobStore.Options.DEFAULT)) {
      admin.limit(QUEUE, 2);
      queue.enqueue(jobs(60));
      for (int round = 0; round < 20; round++) {
        Parallel.run(4, i -> () -> other.jobs().claim(new ClaimRequest(QUEUE, 2, "w" + i, LEASE)));
        assertThat(runningNow()).isEqualTo(2);
        queue.settle(
            queries.list(JobFilter.ALL.states(Set.of(JobState.RUNNING))).stream()
                .map(job -> (Settlement) succeed(new Lease(job.id(), job.attempt())))
                .toList());
      }
    }
  }

  @Test
  void the_limit_of_a_queue_counts_jobs_with_and_without_keys() {
    admin.limit(QUEUE, 3);
    queue.enqueue(
        List.of(keyed("a", 1), keyed("a", 1), keyed("b", 2), keyed("b", 2), job(), job()));
    assertThat(claim(10)).hasSize(3);
    assertThat(claim(10)).isEmpty();
    admin.limit(QUEUE, 4);
    assertThat(claim(10)).hasSize(1);
    admin.limit(QUEUE, null);
    assertThat(claim(10)).hasSize(1);
    assertThat(queries.list(JobFilter.ALL.states(Set.of(JobState.PENDING))))
        .extracting(job -> job.concurrencyKey())
        .containsExactly("a");
  }

  @Test
  void a_limit_below_the_number_of_running_jobs_starts_none() {
    queue.enqueue(jobs(5));
    List<LeasedJob> claimed = claim(3);
    admin.limit(QUEUE, 2);
    assertThat(claim(10)).isEmpty();
    queue.settle(succeed(claimed.get(0).lease()));
    assertThat(claim(10)).isEmpty();
    queue.settle(succeed(claimed.get(1).lease()));
    assertThat(claim(10)).hasSize(1);
  }

  @Test
  void a_slot_is_free_again_however_the_job_ended() {
    queue.enqueue(IntStream.range(0, 4).mapToObj(i -> keyed("k", 1)).toList());
    queue.settle(succeed(claimOne()));
    queue.settle(fail(claimOne(), HOPELESS));
    Lease lost = claimOne();
    expire(lost);
    maintenance.reap(Duration.ZERO);
    queue.cancel(List.of(lost.job()), false, "x", Tenant.ANY);
    claimOne();
    assertThat(claim(1)).isEmpty();
  }

  @Test
  void a_slot_stays_taken_after_heartbeats_and_after_a_cancel_request() {
    admin.limit("limited", 1);
    queue.enqueue(
        List.of(keyed("k", 1), keyed("k", 1), job().queue("limited"), job().queue("limited")));
    Lease keyed = claimOne();
    Lease limited =
        queue.claim(new ClaimRequest("limited", 1, WORKER, LEASE)).jobs().getFirst().lease();
    assertThat(queue.heartbeat(List.of(keyed, limited), LEASE))
        .allMatch(result -> result.ack() == Ack.ACCEPTED);
    assertFull();
    queue.cancel(List.of(keyed.job(), limited.job()), false, "enough", Tenant.ANY);
    assertFull();
    queue.heartbeat(List.of(keyed, limited), LEASE);
    assertFull();
    queue.settle(List.of(new Settlement.Cancel(keyed, null), new Settlement.Cancel(limited, null)));
    assertThat(claim(1)).hasSize(1);
    assertThat(queue.claim(new ClaimRequest("limited", 1, WORKER, LEASE)).jobs()).hasSize(1);
  }

  private void assertFull() {
    assertThat(claim(1)).isEmpty();
    assertThat(queue.claim(new ClaimRequest("limited", 1, WORKER, LEASE)).jobs()).isEmpty();
  }

  @Test
  void a_full_key_blocks_no_other_job() {
    queue.enqueue(IntStream.range(0, 500).mapToObj(i -> keyed("full", 1).priority(0)).toList());
    claimOne();
    JobId other = add(keyed("other", 1));
    JobId plain = add(job());
    assertThat(claim(10)).extracting(LeasedJob::id).containsExactly(other, plain);
    assertThat(claim(10)).isEmpty();
  }

  @Test
  void each_queue_counts_a_key_separately() {
    add(keyed("k", 1));
    add(keyed("k", 1).queue("other"));
    claimOne();
    assertThat(queue.claim(new ClaimRequest("other", 1, WORKER, LEASE)).jobs()).hasSize(1);
  }

  @Test
  void each_tenant_counts_a_key_separately() {
    add(keyed("k", 1).owner("acme", "w"));
    add(keyed("k", 1).owner("acme", "w"));
    JobId other = add(keyed("k", 2).owner("globex", "w"));
    JobId second = add(keyed("k", 2).owner("globex", "w"));
    add(keyed("k", 2).owner("globex", "w"));
    assertThat(claimOf("acme")).hasSize(1);
    assertThat(claimOf("acme")).isEmpty();
    assertThat(claim(10)).extracting(LeasedJob::id).containsExactly(other, second);
    assertThat(claim(10)).isEmpty();
  }

  private List<LeasedJob> claimOf(String tenant) {
    return queue.claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE).tenant(Tenant.of(tenant))).jobs();
  }

  @Test
  void more_tenants_of_a_key_than_one_page_are_all_claimed() {
    ClaimByRules byRules = new ClaimByRules(2);
    queue.enqueue(
        IntStream.range(0, 10).mapToObj(i -> keyed("k", 1).owner("t" + i / 2, "w")).toList());
    assertThat(claimByRules(byRules, 2)).hasSize(2);
    assertThat(claimByRules(byRules, 2)).hasSize(2);
    assertThat(claimByRules(byRules, 2)).hasSize(1);
    assertThat(claimByRules(byRules, 2)).isEmpty();
  }

  @Test
  void the_limits_hold_while_concurrent_claims_go_from_page_to_page() {
    queue.enqueue(IntStream.range(0, 120).mapToObj(i -> keyed("key-" + i % 6, 2)).toList());
    watchRunning();
    AtomicInteger done = new AtomicInteger();
    Parallel.run(
        8,
        i ->
            () -> {
              ClaimByRules byRules = new ClaimByRules(2);
              while (done.get() < 120) {
                done.addAndGet(finished(claimByRules(byRules, 5)));
              }
              return true;
            });
    assertThat(mostAtOnce()).isEqualTo(2);
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(120);
  }

  @Test
  void jobs_without_keys_are_claimed_as_usual_once_those_with_keys_are_done() {
    add(keyed("k", 1));
    queue.enqueue(jobs(2));
    assertThat(claim(1)).hasSize(1);
    assertThat(claim(10)).hasSize(2);
    queue.enqueue(jobs(300));
    assertThat(claim(10)).hasSize(10);
    assertThat(claim(290)).hasSize(290);
  }

  @Test
  void one_claim_reads_several_pages_of_keys() {
    ClaimByRules byRules = new ClaimByRules(3);
    queue.enqueue(IntStream.range(0, 20).mapToObj(i -> keyed("k" + i % 10, 1)).toList());
    assertThat(claimByRules(byRules, 7)).hasSize(7);
    assertThat(claimByRules(byRules, 7)).hasSize(3);
    assertThat(claimByRules(byRules, 7)).isEmpty();
  }

  @Test
  void a_batch_claim_goes_row_by_row_while_a_claim_by_rules_holds_the_queue() throws SQLException {
    queue.enqueue(jobs(3));
    ClaimRequest request = new ClaimRequest(QUEUE, 1, WORKER, LEASE);
    try (JobStore batching =
            new JobStore(
                db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0));
        Connection turn = db.connection()) {
      turn.setAutoCommit(false);
      assertThat(
              new ClaimByRules()
                  .takePage(
                      turn,
                      RulesSnapshot.lockAndRead(
                          turn, request, RulesSnapshot.Key.FIRST, RulesSnapshot.Key.FIRST, 1),
                      request,
                      true,
                      RulesSnapshot.Key.FIRST)
                  .jobs())
          .hasSize(1);
      // It waits a moment for the turn to end, and then goes row by row.
      assertThat(
              batching.jobs().claim(new ClaimRequest(QUEUE, 5, "other", LEASE).inBatches()).jobs())
          .hasSize(2);
      assertThat(db.count("SELECT count(*) FROM holdfast.claim")).isZero();
      turn.commit();
    }
  }

  @Test
  void a_suspect_with_a_key_is_not_blocked_by_another_tenant() {
    Lease other = addAndClaim(keyed("k", 1).owner("globex", "w"));
    JobId suspect = add(keyed("k", 1).owner("acme", "w"));
    set(suspect, "isolated = true");
    assertThat(queue.claim(new ClaimRequest(QUEUE, 1, "worker:default:2", LEASE)).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(suspect);
    assertThat(state(other.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_suspect_waits_for_normal_jobs_of_its_key_and_they_for_it() {
    Lease normal = addAndClaim(keyed("k", 1));
    JobId suspect = add(keyed("k", 1));
    set(suspect, "isolated = true");
    String empty = "worker:default:2";
    assertThat(queue.claim(new ClaimRequest(QUEUE, 1, empty, LEASE)).jobs()).isEmpty();
    JobId next = add(keyed("k", 1));
    queue.settle(succeed(normal));
    List<LeasedJob> claimed = queue.claim(new ClaimRequest(QUEUE, 1, empty, LEASE)).jobs();
    assertThat(claimed).extracting(LeasedJob::id).containsExactly(suspect);
    assertThat(claim(1)).isEmpty();
    queue.settle(succeed(claimed.getFirst().lease()));
    assertThat(claim(1)).extracting(LeasedJob::id).containsExactly(next);
  }

  @Test
  void within_a_key_jobs_go_by_priority() {
    JobId later = add(keyed("k", 2));
    JobId delayed = add(keyed("k", 2).priority(0).delay(Duration.ofHours(1)));
    JobId urgent = add(keyed("k", 2).priority(1));
    JobId plain = add(job().priority(2));
    assertThat(claim(10)).extracting(LeasedJob::id).containsExactly(urgent, plain, later);
    assertThat(state(delayed)).isEqualTo(JobState.PENDING);
  }

  @Test
  void more_keys_than_one_page_are_all_claimed() {
    queue.enqueue(IntStream.range(0, 1_000).mapToObj(i -> keyed("key-" + i % 500, 1)).toList());
    Set<JobId> claimed = new HashSet<>();
    for (int i = 0; i < 60 && claimed.size() < 500; i++) {
      claim(25).forEach(job -> claimed.add(job.id()));
    }
    assertThat(claimed).hasSize(500);
    Map<String, Long> perKey =
        queries.list(JobFilter.ALL.states(Set.of(JobState.RUNNING)).limit(1_000)).stream()
            .collect(
                Collectors.groupingBy(
                    job -> String.valueOf(job.concurrencyKey()), Collectors.counting()));
    assertThat(perKey).hasSize(500).allSatisfy((key, running) -> assertThat(running).isEqualTo(1));
  }

  @Test
  void a_free_key_behind_pages_of_full_ones_is_found_in_one_claim() {
    queue.enqueue(IntStream.range(0, 900).mapToObj(i -> keyed("a" + i, 1)).toList());
    List<LeasedJob> full = new ArrayList<>();
    while (full.size() < 900) {
      full.addAll(claim(900 - full.size()));
    }
    queue.enqueue(IntStream.range(0, 900).mapToObj(i -> keyed("a" + i, 1)).toList());
    JobId free = add(keyed("z", 1));
    assertThat(claim(5)).extracting(LeasedJob::id).containsExactly(free);
    JobId first = add(keyed("0", 1));
    assertThat(claim(5)).extracting(LeasedJob::id).containsExactly(first);
    assertThat(claim(5)).isEmpty();
  }

  @Test
  void a_claim_by_rules_of_a_paused_queue_returns_nothing() {
    add(keyed("k", 1));
    admin.pause(QUEUE);
    assertThat(claimByRules(new ClaimByRules(), 1)).isEmpty();
    admin.resume(QUEUE);
    admin.pauseAllWorkers();
    assertThat(claimByRules(new ClaimByRules(), 1)).isEmpty();
    admin.limit(QUEUE, 5);
    assertThat(claimByRules(new ClaimByRules(), 1)).isEmpty();
    admin.resumeAllWorkers();
    assertThat(claimByRules(new ClaimByRules(), 1)).hasSize(1);
  }

  private static List<LeasedJob> claimByRules(ClaimByRules rules, int most) {
    Database database = Database.pooled(db.dataSource(), StatementObserver.NONE, 1);
    return rules
        .take(new MaterializedJobs(database), new ClaimRequest(QUEUE, most, WORKER, LEASE), true)
        .jobs();
  }
}
