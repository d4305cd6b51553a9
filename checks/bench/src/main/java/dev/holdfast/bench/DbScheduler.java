package dev.holdfast.bench;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import java.io.Serializable;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * db-scheduler with its fastest polling strategy and a hundred threads. It deletes what has run.
 */
final class DbScheduler implements Contender {
  private static final int THREADS = 100;

  private final Target target;
  private final HikariDataSource pool;
  private final SchedulerClient client;
  private volatile IntConsumer listener = number -> {};
  private volatile int millis;
  private final OneTimeTask<Numbered> task =
      Tasks.oneTime("noop", Numbered.class)
          .execute(
              (instance, context) -> {
                Trials.sleep(millis);
                listener.accept(instance.getData().n());
              });

  /** A job's payload, written by Java's own serialization as it is by default. */
  private record Numbered(int n, String filler) implements Serializable {}

  DbScheduler(Target target) throws SQLException {
    this.target = target;
    this.pool = target.pool(20);
    target.run(
        """
        CREATE TABLE scheduled_tasks (
          task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,
          execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text,
          last_success timestamptz, last_failure timestamptz, consecutive_failures int,
          last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
          PRIMARY KEY (task_name, task_instance));
        CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time);
        CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)
        """);
    this.client = SchedulerClient.Builder.create(pool, task).build();
  }

  @Override
  public String name() {
    return "db-scheduler";
  }

  @Override
  public void clear() throws SQLException {
    target.run("TRUNCATE scheduled_tasks");
  }

  @Override
  public void enqueue(int number) {
    var unused =
        client.scheduleIfNotExists(
            task.instance(Integer.toString(number), new Numbered(number, FILLER)), Instant.now());
  }

  @Override
  public void enqueue(int first, int count) {
    for (int from = first; from < first + count; from += 1_000) {
      List<TaskInstance<?>> instances = new ArrayList<>();
      for (int i = from; i < Math.min(from + 1_000, first + count); i++) {
        instances.add(task.instance(Integer.toString(i), new Numbered(i, FILLER)));
      }
      client.scheduleBatch(instances, Instant.now());
    }
  }

  @Override
  public AutoCloseable work(int concurrency, int millis, IntConsumer ran) {
    listener = ran;
    this.millis = millis;
    Scheduler scheduler =
        Scheduler.create(pool, task)
            .threads(THREADS)
            .pollUsingLockAndFetch(1.0, 4.0)
            .pollingInterval(Duration.ofMillis(10))
            .build();
    scheduler.start();
    return scheduler::stop;
  }

  @Override
  public boolean isEmpty() throws SQLException {
    return target.count("SELECT count(*) FROM (SELECT FROM scheduled_tasks LIMIT 1) AS r") == 0;
  }

  @Override
  public void verify(int count) throws SQLException {
    target.expect(0, "SELECT count(*) FROM scheduled_tasks");
  }

  @Override
  public double share() {
    return 0.3;
  }

  @Override
  public void close() {
    pool.close();
  }
}
