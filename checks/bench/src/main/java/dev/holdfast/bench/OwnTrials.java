package dev.holdfast.bench;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.JobStore;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** What only Holdfast is asked: how it bears age, a held snapshot, many leases and a death. */
final class OwnTrials {
  private static final int RUNNING = 10_000;
  private static final Duration LEASE = Duration.ofMinutes(10);

  private final HoldfastContender holdfast;
  private final Meter meter;
  private final int jobs;
  private final int finished;

  OwnTrials(HoldfastContender holdfast, Meter meter, int jobs, int finished) {
    this.holdfast = holdfast;
    this.meter = meter;
    this.jobs = jobs;
    this.finished = finished;
  }

  Map<String, Callable<List<Sample>>> all() {
    Map<String, Callable<List<Sample>>> all = new LinkedHashMap<>();
    all.put("snapshot", this::snapshot);
    all.put("heartbeat", this::heartbeat);
    all.put("recovery", this::recovery);
    all.put("processes", this::processes);
    all.put("memory", this::memory);
    all.put("finished", this::finished);
    return all;
  }

  private static Sample of(String trial, String unit, double value) {
    return Sample.of(trial, "holdfast", unit, value);
  }

  /** A flow of jobs, undisturbed and then while somebody holds a snapshot, in thirds. */
  private List<Sample> snapshot() throws Exception {
    List<Sample> samples = new ArrayList<>(thirds("flow, undisturbed"));
    try (Connection connection = holdfast.target().open();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("SELECT count(*) FROM holdfast.queue");
      samples.addAll(thirds("flow, snapshot"));
      connection.rollback();
    }
    return samples;
  }

  private List<Sample> thirds(String name) throws Exception {
    holdfast.clear();
    int count = jobs * 3;
    Trials.Once once = new Trials.Once(count);
    List<Sample> samples = new ArrayList<>();
    AutoCloseable worker = holdfast.work(Trials.CONCURRENCY, 0, once::ran);
    try {
      Thread producer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int from = 0; from < count; from += 100) {
                      // Not further ahead than a queue usually is.
                      while (from - (count - once.left()) > 5_000) {
                        Trials.sleep(1);
                      }
                      holdfast.enqueue(from, Math.min(100, count - from));
                    }
                  });
      Meter.Reading start = meter.read(holdfast);
      for (int third = 1; third <= 3; third++) {
        long until = count - (long) count * third / 3;
        while (once.left() > until) {
          Trials.sleep(2);
        }
        Meter.Reading now = meter.read(holdfast);
        samples.add(of(name + " " + third, "jobs/s", count / 3.0 / now.since(start).seconds()));
        start = now;
      }
      producer.join();
      while (!holdfast.isEmpty()) {
        Trials.sleep(1);
      }
    } finally {
      worker.close();
    }
    holdfast.verify(count);
    once.verify();
    return samples;
  }

  private List<Lease> claimed() throws Exception {
    holdfast.clear();
    holdfast.enqueue(0, RUNNING);
    JobStore store = holdfast.holdfast().store();
    List<Lease> leases = new ArrayList<>();
    while (leases.size() < RUNNING) {
      Claimed claimed =
          store.jobs().claim(new ClaimRequest(Job.DEFAULT_QUEUE, 500, "bench", LEASE));
      claimed.jobs().forEach(job -> leases.add(job.lease()));
    }
    return leases;
  }

  /**
   * What the heartbeats of all running jobs cost, as a share of one core at the default interval.
   */
  private List<Sample> heartbeat() throws Exception {
    List<Lease> leases = claimed();
    JobStore store = holdfast.holdfast().store();
    int times = 20;
    for (int i = 0; i < 5; i++) {
      var unused = store.jobs().heartbeat(leases, LEASE);
    }
    Meter.Reading start = meter.read(holdfast);
    for (int i = 0; i < times; i++) {
      var unused = store.jobs().heartbeat(leases, LEASE);
      Trials.sleep(50);
    }
    Meter.Reading used = meter.read(holdfast).since(start);
    double each = (used.client() + used.server()) / times;
    return List.of(
        of("heartbeat, of a core", "%", 100 * each / 10),
        of("heartbeat, client", "%", 100 * used.client() / times / 10),
        of("heartbeat, statement", "ms", (used.seconds() / times - 0.05) * 1e3));
  }

  /** A worker with so many jobs has died: how long its jobs take to be back in the queue. */
  private List<Sample> recovery() throws Exception {
    var unused = claimed();
    holdfast.target().run("UPDATE holdfast.job SET lease_expires_at = now() - interval '1 hour'");
    JobStore store = holdfast.holdfast().store();
    Meter.Reading start = meter.read(holdfast);
    int recovered = 0;
    int page;
    do {
      page = store.maintenance().reap(Duration.ZERO).requeued().size();
      recovered += page;
    } while (page > 0);
    double seconds = meter.read(holdfast).since(start).seconds();
    if (recovered != RUNNING) {
      throw new IllegalStateException("only " + recovered + " were recovered");
    }
    return List.of(of("recovery", "ms", seconds * 1e3));
  }

  private List<Sample> processes() throws Exception {
    List<Sample> samples = new ArrayList<>();
    for (int count : new int[] {1, 2, 4}) {
      holdfast.clear();
      List<Child> children = new ArrayList<>();
      try {
        for (int i = 0; i < count; i++) {
          children.add(Child.start(holdfast.target(), Trials.CONCURRENCY, 0));
        }
        // Warm, each of them, before anything is measured.
        holdfast.enqueue(0, jobs / 2 * count);
        awaitEmpty();
        holdfast.holdfast().store().admin().pause(Job.DEFAULT_QUEUE);
        holdfast.enqueue(0, jobs);
        Trials.sleep(1_500);
        Meter.Reading start = meter.read(holdfast);
        holdfast.holdfast().store().admin().resume(Job.DEFAULT_QUEUE);
        awaitEmpty();
        samples.add(
            of(
                "processes: " + count,
                "jobs/s",
                jobs / meter.read(holdfast).since(start).seconds()));
      } finally {
        children.forEach(Child::close);
      }
      holdfast.verify(jobs + jobs / 2 * count);
    }
    return samples;
  }

  private void awaitEmpty() throws Exception {
    while (holdfast
            .target()
            .count(
                "SELECT count(*) FROM (SELECT FROM holdfast.job WHERE queue = 'default' AND priority = 5"
                    + " AND state = 'PENDING' AND concurrency_key IS NULL LIMIT 1) AS p")
        > 0) {
      // Each look is a connection, and passes what the workers have settled since the last vacuum.
      Trials.sleep(100);
    }
    while (!holdfast.isEmpty()) {
      Trials.sleep(2);
    }
  }

  /** A worker process with a thousand jobs under way. */
  private List<Sample> memory() throws Exception {
    holdfast.clear();
    holdfast.enqueue(0, 3_000);
    try (Child child =
        Child.start(holdfast.target(), 1_000, 2_000, "-XX:+UseSerialGC", "-Xmx96m")) {
      Trials.sleep(5_000);
      return List.of(of("memory, 1000 jobs", "MB", child.residentMegabytes()));
    }
  }

  /** A drain in a young table, and beside millions of finished jobs. */
  private List<Sample> finished() throws Exception {
    holdfast.clear();
    double young = 0;
    double old = 0;
    for (int round = 0; round < 3; round++) {
      holdfast.clear();
      holdfast.enqueue(0, jobs);
      young = Math.max(young, worked());
    }
    holdfast.clear();
    holdfast
        .target()
        .run(
            """
            INSERT INTO holdfast.job (id, queue, kind, state, priority, run_at, created_at, attempt,
                   max_attempts, max_crashes, worker_id, started_at, finished_at, event_count,
                   started_event_number, tenant, workspace, run_id, run_key, payload)
            SELECT id, 'default', 'noop', 'SUCCEEDED', 5, now(), now(), 1, 3, 2, 'bench', now(),
                   now(), 3, 2, 'default', 'default', id, 'default', '{"n": 0}'
              FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, %d)) AS ids
            """
                .formatted(finished));
    holdfast.target().run("ANALYZE holdfast.job");
    for (int round = 0; round < 3; round++) {
      holdfast.enqueue(0, jobs);
      old = Math.max(old, worked());
    }
    holdfast.clear();
    return List.of(
        of("drain, young table", "jobs/s", young),
        of("drain, old table", "jobs/s", old),
        of("old to young", "×", old / young));
  }

  private double worked() throws Exception {
    Trials.Once once = new Trials.Once(jobs);
    Meter.Reading start = meter.read(holdfast);
    AutoCloseable worker = holdfast.work(Trials.CONCURRENCY, 0, once::ran);
    try {
      once.await();
      awaitEmpty();
      return jobs / meter.read(holdfast).since(start).seconds();
    } finally {
      worker.close();
      once.verify();
    }
  }
}
