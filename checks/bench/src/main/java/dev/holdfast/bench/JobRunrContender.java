package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.jackson.JacksonJsonMapper;

/** JobRunr as it comes, polling as often as it may. */
final class JobRunrContender implements Contender {
  private static volatile IntConsumer listener = number -> {};
  private static volatile int pause;

  /** A job's payload. */
  public record Numbered(int n, String filler) implements JobRequest {
    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** What runs it. */
  public static final class Handler implements JobRequestHandler<Numbered> {
    @Override
    public void run(Numbered number) {
      Trials.sleep(pause);
      listener.accept(number.n());
    }
  }

  private final Target target;
  private final HikariDataSource pool;
  private final PostgresStorageProvider storage;
  private final JobRequestScheduler scheduler;

  JobRunrContender(Target target) {
    this.target = target;
    this.pool = target.pool(20);
    this.storage = new PostgresStorageProvider(pool);
    storage.setJobMapper(new JobMapper(new JacksonJsonMapper()));
    this.scheduler = new JobRequestScheduler(storage);
  }

  @Override
  public String name() {
    return "JobRunr";
  }

  @Override
  public void clear() throws SQLException {
    target.run("TRUNCATE jobrunr_jobs");
  }

  @Override
  public void enqueue(int number) {
    scheduler.enqueue(new Numbered(number, FILLER));
  }

  @Override
  public void enqueue(int first, int count) {
    scheduler.enqueue(IntStream.range(first, first + count).mapToObj(i -> new Numbered(i, FILLER)));
  }

  @Override
  public AutoCloseable work(int concurrency, int millis, IntConsumer ran) {
    listener = ran;
    pause = millis;
    BackgroundJobServer server =
        new BackgroundJobServer(
            storage,
            new JacksonJsonMapper(),
            new JobActivator() {
              @Override
              public <T> T activateJob(Class<T> type) {
                return type.cast(new Handler());
              }
            },
            BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                .andWorkerCount(Math.max(100, concurrency))
                .andPollInterval(Duration.ofSeconds(5)));
    server.start();
    return server::stop;
  }

  @Override
  public boolean isEmpty() throws SQLException {
    return target.count(
            "SELECT count(*) FROM (SELECT FROM jobrunr_jobs WHERE state <> 'SUCCEEDED' LIMIT 1) AS r")
        == 0;
  }

  @Override
  public void verify(int count) throws SQLException {
    target.expect(count, "SELECT count(*) FROM jobrunr_jobs WHERE state = 'SUCCEEDED'");
    target.expect(0, "SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'");
  }

  @Override
  public double share() {
    return 0.05;
  }

  @Override
  public boolean picksUp() {
    return false;
  }

  @Override
  public void close() {
    JobRunr.destroy();
    pool.close();
  }
}
