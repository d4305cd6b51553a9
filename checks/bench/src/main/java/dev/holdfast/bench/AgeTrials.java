package dev.holdfast.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.ReconnectingDataSource;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/** The first minutes of a database, what they leave on the disk, and the end of an outage. */
final class AgeTrials {
  private static final Duration SLICE = Duration.ofSeconds(10);
  private static final int DEPTH = 4_000;
  private static final int RESTARTS = 5;

  private final Target server;
  private final int slices;

  AgeTrials(Target server, int minutes) {
    this.server = server;
    this.slices = Math.toIntExact(Duration.ofMinutes(minutes).dividedBy(SLICE));
  }

  Map<String, Callable<List<Sample>>> all() {
    Map<String, Callable<List<Sample>>> all = new LinkedHashMap<>();
    all.put("first-minutes", this::firstMinutes);
    all.put("restart", AgeTrials::restarts);
    return all;
  }

  private static Sample of(String trial, String unit, double value) {
    return Sample.of(trial, "holdfast", unit, value);
  }

  /**
   * Two producers and a worker in a database that was made for it, at a depth of a few thousand
   * jobs; by slices of ten seconds.
   */
  private List<Sample> firstMinutes() throws Exception {
    HoldfastContender fresh = new HoldfastContender(server.fresh("holdfast_bench_fresh"));
    try {
      AtomicInteger enqueued = new AtomicInteger();
      AtomicInteger ran = new AtomicInteger();
      long end = System.nanoTime() + SLICE.toNanos() * slices;
      double[] rates = new double[slices];
      AutoCloseable worker = fresh.work(128, 1, number -> ran.incrementAndGet());
      try {
        Thread producers =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        Trials.inParallel(2, thread -> produce(fresh, enqueued, ran, end));
                      } catch (Exception failed) {
                        throw new IllegalStateException(failed);
                      }
                    });
        long from = System.nanoTime();
        int before = 0;
        for (int slice = 0; slice < slices; slice++) {
          long until = from + SLICE.toNanos() * (slice + 1);
          TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
          int now = ran.get();
          rates[slice] = (now - before) / (double) SLICE.toSeconds();
          before = now;
          System.out.printf(Locale.ROOT, "%4d s %,10.1f jobs/s%n", (slice + 1) * 10, rates[slice]);
        }
        producers.join();
        while (!fresh.isEmpty()) {
          Trials.sleep(20);
        }
      } finally {
        worker.close();
      }
      long jobs = enqueued.get();
      Target target = fresh.target();
      double dead =
          target.count(
              "SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'holdfast'");
      double bytes = target.count("SELECT pg_total_relation_size('holdfast.job')") / (double) jobs;
      double[] sorted = rates.clone();
      Arrays.sort(sorted);
      double median = (sorted[slices / 2 - 1] + sorted[slices / 2]) / 2;
      return List.of(
          of("first minutes, median", "jobs/s", median),
          of("slowest ten seconds", "jobs/s", sorted[0]),
          of("slowest to median", "×", sorted[0] / median),
          of("jobs in all", "jobs", (double) jobs),
          of("dead rows at the end", "rows", dead),
          of("table and indexes", "B/job", bytes));
    } finally {
      fresh.close();
    }
  }

  private static void produce(
      HoldfastContender fresh, AtomicInteger enqueued, AtomicInteger ran, long end) {
    while (System.nanoTime() < end) {
      if (enqueued.get() - ran.get() > DEPTH) {
        Trials.sleep(1);
      } else {
        fresh.enqueue(enqueued.getAndAdd(100), 100);
      }
    }
  }

  /**
   * From the moment at which a server that was stopped takes connections again to the first line of
   * a handler, in a service whose pool has no connection left.
   */
  private static List<Sample> restarts() throws Exception {
    List<Sample> samples = new ArrayList<>();
    for (boolean reconnecting : new boolean[] {true, false}) {
      String name = "after a restart" + (reconnecting ? "" : ", HikariCP alone");
      restart(reconnecting).forEach(millis -> samples.add(of(name, "ms", millis)));
    }
    return samples;
  }

  private static List<Double> restart(boolean reconnecting) throws Exception {
    Path folder = Files.createTempDirectory("holdfast-restart-");
    folder.toFile().setReadable(true, false);
    folder.toFile().setExecutable(true, false);
    EmbeddedPostgres.Options options = EmbeddedPostgres.Options.in(folder.resolve("postgres"));
    List<Double> millis = new ArrayList<>();
    EmbeddedPostgres postgres = EmbeddedPostgres.start(options);
    EmbeddedPostgres.Options same = options.port(postgres.port());
    Target target = new Target(postgres.jdbcUrl(), postgres.user(), postgres.password());
    try (HikariDataSource pool = reconnecting ? reconnecting(target) : target.pool(10);
        Holdfast holdfast = holdfast(pool)) {
      CountDownLatch[] began = new CountDownLatch[RESTARTS];
      Arrays.setAll(began, i -> new CountDownLatch(1));
      try (Worker worker =
          holdfast
              .worker(Job.DEFAULT_QUEUE)
              .handle(
                  "noop",
                  Integer.class,
                  (number, context) -> {
                    began[number].countDown();
                    return null;
                  })
              .start()) {
        for (int i = 0; i < RESTARTS; i++) {
          Trials.sleep(1_000);
          holdfast.enqueue(Job.of("noop", i).delay(Duration.ofSeconds(1)));
          postgres.close();
          Trials.sleep(2_000 + 300L * i);
          postgres = EmbeddedPostgres.start(same);
          long up = System.nanoTime();
          if (!began[i].await(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException(worker.name() + " ran no job after a restart");
          }
          millis.add((System.nanoTime() - up) / 1e6);
        }
      }
    } finally {
      postgres.close();
      var unused = new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
    }
    return millis;
  }

  private static HikariDataSource reconnecting(Target target) {
    PGSimpleDataSource driver = new PGSimpleDataSource();
    driver.setURL(target.url());
    driver.setUser(target.user());
    driver.setPassword(target.password());
    HikariConfig config = new HikariConfig();
    config.setDataSource(ReconnectingDataSource.of(driver));
    config.setMaximumPoolSize(10);
    return new HikariDataSource(config);
  }

  private static Holdfast holdfast(HikariDataSource pool) {
    Migrations.apply(pool, false);
    return Holdfast.on(pool);
  }
}
