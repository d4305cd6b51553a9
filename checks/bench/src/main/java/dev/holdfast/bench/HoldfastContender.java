package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/** Holdfast as a service embeds it: leases, fencing, history and timeline. */
final class HoldfastContender implements Contender {
  private static final int BULK = 1_000;

  /** A job's payload. */
  record Numbered(int n, String filler) {}

  private final Target target;
  private final HikariDataSource pool;
  private final Holdfast holdfast;

  HoldfastContender(Target target) {
    this.target = target;
    this.pool = target.pool(12);
    Migrations.apply(pool, false);
    this.holdfast = Holdfast.on(pool, new JacksonCodec(), JobStore.Options.DEFAULT);
  }

  Holdfast holdfast() {
    return holdfast;
  }

  /** On any port, for as many requests as there come. */
  HoldfastServer server() {
    return HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0).requestsPerSecond(0));
  }

  Target target() {
    return target;
  }

  @Override
  public String name() {
    return "holdfast";
  }

  @Override
  public void clear() throws SQLException {
    target.run("TRUNCATE holdfast.job, holdfast.claim CASCADE");
  }

  @Override
  public void enqueue(int number) {
    holdfast.enqueue(Job.of("noop", new Numbered(number, FILLER)));
  }

  @Override
  public void enqueue(int first, int count) {
    for (int from = first; from < first + count; from += BULK) {
      List<Job> jobs = new ArrayList<>();
      for (int i = from; i < Math.min(from + BULK, first + count); i++) {
        jobs.add(Job.of("noop", new Numbered(i, FILLER)));
      }
      holdfast.enqueue(jobs);
    }
  }

  @Override
  public AutoCloseable work(int concurrency, int millis, IntConsumer ran) {
    return holdfast
        .worker(Job.DEFAULT_QUEUE)
        .concurrency(concurrency)
        .handle(
            "noop",
            Numbered.class,
            (number, context) -> {
              Trials.sleep(millis);
              ran.accept(number.n());
              return null;
            })
        .start();
  }

  @Override
  public Optional<AutoCloseable> process(int concurrency) throws IOException {
    return Optional.of(Child.start(target, concurrency, 0));
  }

  @Override
  public boolean isEmpty() throws SQLException {
    return target.count(
            """
            SELECT count(*) FROM (SELECT FROM holdfast.job WHERE state IN ('PENDING', 'RUNNING') LIMIT 1)
                AS unfinished
            """)
        == 0;
  }

  @Override
  public void verify(int count) throws SQLException {
    target.expect(
        count,
        "SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED' AND attempt = 1 AND event_count = 3");
    target.expect(0, "SELECT count(*) FROM holdfast.job WHERE state <> 'SUCCEEDED'");
  }

  @Override
  public void close() {
    holdfast.close();
    pool.close();
  }
}
