package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches are worth it only while what mostly happens costs no statement to look for them. */
class StatementCountTest extends BatchFixture {
  private final AtomicInteger statements = new AtomicInteger();
  private final Thread caller = Thread.currentThread();

  @BeforeEach
  void openCounted() throws Exception {
    closeBatching();
    batching = batching(counted(db.dataSource()));
    worker = batching.jobs();
    // The first use of a connection asks what the server is, and the first claim where to begin.
    List<Lease> first = batch(1);
    worker.heartbeat(first, LEASE);
    worker.settle(succeed(first.getFirst()));
    assertThat(inBatch(1)).isEmpty();
  }

  private DataSource counted(DataSource source) {
    return proxy(
        DataSource.class,
        source,
        (method, answer) ->
            method.equals("getConnection")
                ? proxy(
                    Connection.class,
                    (Connection) answer,
                    (called, result) -> {
                      // Not those of threads that look afterwards for jobs which wait.
                      if (Thread.currentThread() == caller
                          && (called.equals("prepareStatement")
                              || called.equals("createStatement"))) {
                        statements.incrementAndGet();
                      }
                      return result;
                    })
                : answer);
  }

  private interface Then {
    Object of(String method, Object answer);
  }

  private static <T> T proxy(Class<T> type, T behind, Then then) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return then.of(method.getName(), method.invoke(behind, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private int statementsOf(Callable<?> verb) throws Exception {
    statements.set(0);
    verb.call();
    return statements.get();
  }

  @Test
  void a_batch_claim_is_two_statements_and_its_settle_one() throws Exception {
    queue.enqueue(jobs(300));
    List<List<Lease>> claimed = new ArrayList<>();
    assertThat(statementsOf(() -> claimed.add(inBatch(300)))).isEqualTo(2);
    List<Settlement> done = claimed.getFirst().stream().<Settlement>map(l -> succeed(l)).toList();
    List<Ack> acks = new ArrayList<>();
    assertThat(statementsOf(() -> acks.addAll(worker.settle(done)))).isEqualTo(1);
    assertThat(acks).hasSize(300).containsOnly(Ack.ACCEPTED);
  }

  @Test
  void a_heartbeat_of_jobs_with_rows_is_one_statement() throws Exception {
    List<Lease> leases = batch(300);
    // The first one materializes them: nothing found, is there a claim, materialize, extend.
    assertThat(statementsOf(() -> worker.heartbeat(leases, LEASE))).isEqualTo(4);
    List<HeartbeatResult> results = new ArrayList<>();
    assertThat(statementsOf(() -> results.addAll(worker.heartbeat(leases, LEASE)))).isEqualTo(1);
    assertThat(results).extracting(HeartbeatResult::ack).containsOnly(Ack.ACCEPTED);
  }

  @Test
  void what_is_found_is_reported_and_settled_by_one_statement() throws Exception {
    Lease lease = inBatch();
    worker.heartbeat(List.of(lease), LEASE);
    assertThat(statementsOf(() -> worker.report(List.of(new Report.Progress(lease, 1, "x")))))
        .isEqualTo(1);
    assertThat(statementsOf(() -> worker.settle(fail(lease, FLAKY)))).isEqualTo(1);
  }

  @Test
  void an_enqueue_looks_for_no_batch() throws Exception {
    assertThat(statementsOf(() -> worker.enqueue(job()))).isEqualTo(1);
  }
}
