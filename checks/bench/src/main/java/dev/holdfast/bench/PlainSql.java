package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.JobId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * The limit: the least a queue can do on PostgreSQL, in the largest batches that help. No leases,
 * no attempts, no history; a worker that dies loses its jobs. Handlers run one after the other.
 */
final class PlainSql implements Contender {
  private static final int BATCH = 500;
  private static final int CONNECTIONS = 2;

  private static final String INSERT =
      "INSERT INTO plain_job (id, payload) SELECT * FROM unnest(?::uuid[], ?::jsonb[])";
  private static final String CLAIM =
      """
      WITH c AS MATERIALIZED (
        SELECT ctid FROM plain_job WHERE state = 'PENDING' AND queue = 'default'
         ORDER BY priority, run_at, id LIMIT ? FOR UPDATE SKIP LOCKED)
      UPDATE plain_job SET state = 'RUNNING', attempt = attempt + 1
       WHERE ctid = ANY (ARRAY(SELECT ctid FROM c))
      RETURNING id, (payload ->> 'n')::int
      """;
  private static final String DONE =
      "UPDATE plain_job SET state = 'DONE', finished_at = now() WHERE id = ANY (?) AND state = 'RUNNING'";

  private final Target target;
  private final HikariDataSource pool;

  PlainSql(Target target) throws SQLException {
    this.target = target;
    this.pool = target.pool(10);
    target.run(
        """
        CREATE TABLE plain_job (
          id uuid PRIMARY KEY, queue text NOT NULL DEFAULT 'default',
          state text NOT NULL DEFAULT 'PENDING', priority smallint NOT NULL DEFAULT 5,
          run_at timestamptz NOT NULL DEFAULT now(), attempt int NOT NULL DEFAULT 0,
          payload jsonb NOT NULL, finished_at timestamptz);
        CREATE INDEX plain_claim ON plain_job (queue, priority, run_at, id) WHERE state = 'PENDING'
        """);
  }

  @Override
  public String name() {
    return "plain SQL";
  }

  @Override
  public void clear() throws SQLException {
    target.run("TRUNCATE plain_job");
  }

  @Override
  public void enqueue(int number) throws SQLException {
    insert(number, 1);
  }

  @Override
  public void enqueue(int first, int count) throws SQLException {
    for (int from = first; from < first + count; from += 1_000) {
      insert(from, Math.min(1_000, first + count - from));
    }
  }

  private void insert(int first, int count) throws SQLException {
    UUID[] ids = new UUID[count];
    String[] payloads = new String[count];
    for (int i = 0; i < count; i++) {
      ids[i] = JobId.next().value();
      payloads[i] = "{\"n\": " + (first + i) + ", \"filler\": \"" + FILLER + "\"}";
    }
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(INSERT)) {
      statement.setArray(1, connection.createArrayOf("uuid", ids));
      statement.setArray(2, connection.createArrayOf("jsonb", payloads));
      statement.executeUpdate();
    }
  }

  @Override
  public AutoCloseable work(int concurrency, int millis, IntConsumer ran) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      threads.add(Thread.ofPlatform().start(() -> claimUntilInterrupted(ran)));
    }
    return () -> {
      threads.forEach(Thread::interrupt);
      for (Thread thread : threads) {
        thread.join();
      }
    };
  }

  private void claimUntilInterrupted(IntConsumer ran) {
    try (Connection connection = pool.getConnection();
        PreparedStatement claim = connection.prepareStatement(CLAIM);
        PreparedStatement done = connection.prepareStatement(DONE)) {
      claim.setInt(1, BATCH);
      while (!Thread.currentThread().isInterrupted()) {
        List<UUID> ids = new ArrayList<>();
        try (ResultSet rows = claim.executeQuery()) {
          while (rows.next()) {
            ran.accept(rows.getInt(2));
            ids.add(rows.getObject(1, UUID.class));
          }
        }
        if (ids.isEmpty()) {
          LockSupport.parkNanos(1_000_000);
        } else {
          done.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
          done.executeUpdate();
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean isEmpty() throws SQLException {
    return target.count(
            "SELECT count(*) FROM (SELECT FROM plain_job WHERE state = 'RUNNING' LIMIT 1) AS r")
        == 0;
  }

  @Override
  public void verify(int count) throws SQLException {
    target.expect(count, "SELECT count(*) FROM plain_job WHERE state = 'DONE' AND attempt = 1");
    target.expect(0, "SELECT count(*) FROM plain_job WHERE state <> 'DONE'");
  }

  @Override
  public void close() {
    pool.close();
  }
}
