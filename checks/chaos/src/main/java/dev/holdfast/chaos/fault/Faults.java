package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.fault.Fault.Reach;
import dev.holdfast.chaos.fleet.Member;
import dev.holdfast.chaos.load.ChaosKinds;
import dev.holdfast.testkit.FaultProxy;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** All that can be broken. */
public final class Faults {
  private static final Duration SNAPSHOT_COUNTS_AFTER = Duration.ofSeconds(2);
  private static final Duration BEYOND_THE_LEASE = ChaosKinds.LEASE.plusSeconds(3);

  private Faults() {}

  public static List<Fault> all() {
    List<Fault> all = new ArrayList<>(ofProcessesAndConnections());
    all.addAll(MachineFaults.all());
    return List.copyOf(all);
  }

  private static List<Fault> ofProcessesAndConnections() {
    return List.of(
        new Fault("kill-worker", Reach.PROCESS, Faults::killWorker),
        new Fault("kill-supervisor", Reach.PROCESS, kill(Member.Role.SUPERVISOR)),
        new Fault("kill-server", Reach.PROCESS, kill(Member.Role.SERVER)),
        new Fault("kill-remote", Reach.PROCESS, kill(Member.Role.REMOTE)),
        new Fault("freeze-worker", Reach.PROCESS, Faults::freezeWorker),
        new Fault("freeze-remote", Reach.PROCESS, freeze(Member.Role.REMOTE)),
        new Fault("restart-all", Reach.PROCESS, Faults::restartAll),
        new Fault("kill-backend", Reach.DATABASE, Faults::killBackend),
        new Fault("kill-postgres", Reach.DATABASE, Faults::killPostgres),
        new Fault("cut", Reach.DATABASE, Faults::cut),
        new Fault("freeze-network", Reach.DATABASE, Faults::freezeNetwork),
        new Fault("slow-network", Reach.LOAD, Faults::slowNetwork),
        new Fault("lose-answer", Reach.LOAD, loseAnswer("COMMIT", true)),
        new Fault("lose-settle", Reach.LOAD, loseAnswer("UPDATE holdfast.job", true)),
        new Fault("lose-http", Reach.LOAD, loseAnswer("/v1/leases", false)),
        new Fault("cut-http", Reach.PROCESS, Faults::cutHttp),
        new Fault("held-snapshot", Reach.LOAD, Faults::heldSnapshot),
        new Fault("vacuum-full", Reach.LOAD, statement("VACUUM (FULL) holdfast.job")),
        new Fault("reindex", Reach.LOAD, statement("REINDEX TABLE CONCURRENTLY holdfast.job")),
        new Fault("bloat", Reach.LOAD, statement("UPDATE holdfast.job SET progress = progress")),
        new Fault("migrate", Reach.LOAD, Faults::migrate));
  }

  // ---- processes

  private static boolean killWorker(Target target, Random random) throws Exception {
    long pid = someWorker(target, random);
    if (pid == 0) {
      return false;
    }
    target.recovery().killed(pid);
    signal("KILL", pid);
    return true;
  }

  private static Fault.Strike kill(Member.Role role) {
    return (target, random) -> {
      long pid = some(target, role, random);
      if (pid == 0) {
        return false;
      }
      if (role == Member.Role.REMOTE) {
        target.recovery().killed(pid);
      }
      signal("KILL", pid);
      return true;
    };
  }

  private static boolean freezeWorker(Target target, Random random) throws Exception {
    // Mostly one that no supervisor watches: that kills a silent process, which then never thaws.
    List<Long> alone = target.fleet().pids(Member.Role.WORKER);
    return frozen(
        target,
        alone.isEmpty() || random.nextInt(4) == 0 ? someWorker(target, random) : alone.getFirst());
  }

  private static Fault.Strike freeze(Member.Role role) {
    return (target, random) -> frozen(target, some(target, role, random));
  }

  private static boolean frozen(Target target, long pid) throws Exception {
    if (pid == 0 || !target.fleet().freezing(pid)) {
      return false;
    }
    signal("STOP", pid);
    try {
      Thread.sleep(BEYOND_THE_LEASE);
    } finally {
      signal("CONT", pid);
      target.fleet().thawed(pid);
    }
    return true;
  }

  private static boolean restartAll(Target target, Random random) throws Exception {
    List<Long> pids = new ArrayList<>(target.fleet().supervisedWorkers());
    pids.addAll(target.fleet().pids(Member.Role.WORKER));
    pids.addAll(target.fleet().pids(Member.Role.REMOTE));
    for (long pid : pids) {
      signal("TERM", pid);
    }
    return !pids.isEmpty();
  }

  /** A supervised one, or the one that runs by itself. */
  static long someWorker(Target target, Random random) throws SQLException {
    List<Long> workers = new ArrayList<>(target.fleet().supervisedWorkers());
    workers.addAll(target.fleet().pids(Member.Role.WORKER));
    return workers.isEmpty() ? 0 : workers.get(random.nextInt(workers.size()));
  }

  private static long some(Target target, Member.Role role, Random random) {
    List<Long> pids = target.fleet().pids(role);
    return pids.isEmpty() ? 0 : pids.get(random.nextInt(pids.size()));
  }

  static void signal(String name, long pid) throws IOException, InterruptedException {
    // Gone already is as good.
    new ProcessBuilder("kill", "-s", name, Long.toString(pid))
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  // ---- the database

  private static boolean killBackend(Target target, Random random) throws Exception {
    List<String> backends =
        target
            .database()
            .texts(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    + " AND pid <> pg_backend_pid() AND application_name <> ''");
    if (backends.isEmpty()) {
      backends =
          target
              .database()
              .texts(
                  "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                      + " AND pid <> pg_backend_pid()");
    }
    if (backends.isEmpty()) {
      return false;
    }
    // The postmaster ends all the others too and goes through recovery.
    signal("KILL", Long.parseLong(backends.get(random.nextInt(backends.size()))));
    waitForDatabase(target);
    return true;
  }

  private static boolean killPostgres(Target target, Random random) throws Exception {
    target.server().kill();
    Thread.sleep(random.nextInt(2_000));
    target.server().startAgain();
    waitForDatabase(target);
    return true;
  }

  static void waitForDatabase(Target target) throws InterruptedException {
    while (!target.database().answers()) {
      Thread.sleep(50);
    }
  }

  private static boolean cut(Target target, Random random) throws Exception {
    cutFor(target.server().proxy(), random.nextInt(6_000));
    return true;
  }

  private static boolean cutHttp(Target target, Random random) throws Exception {
    cutFor(target.fleet().http(), random.nextInt(4_000));
    return true;
  }

  private static void cutFor(FaultProxy proxy, long millis) throws InterruptedException {
    proxy.cut();
    try {
      Thread.sleep(millis);
    } finally {
      proxy.mend();
    }
  }

  private static boolean freezeNetwork(Target target, Random random) throws Exception {
    FaultProxy proxy = target.server().proxy();
    proxy.freeze();
    try {
      Thread.sleep(random.nextInt(8_000));
    } finally {
      proxy.thaw();
    }
    return true;
  }

  private static boolean slowNetwork(Target target, Random random) throws Exception {
    FaultProxy proxy = target.server().proxy();
    proxy.slow(Duration.ofMillis(5L + random.nextInt(40)));
    try {
      Thread.sleep(3_000L + random.nextInt(3_000));
    } finally {
      proxy.slow(Duration.ZERO);
    }
    return true;
  }

  /** It is carried out, and whoever asked for it does not hear of it. */
  private static Fault.Strike loseAnswer(String text, boolean database) {
    return (target, random) -> {
      FaultProxy proxy = database ? target.server().proxy() : target.fleet().http();
      CountDownLatch lost = proxy.loseNextReplyTo(text);
      // Other faults may keep everybody from asking for a while.
      return lost.await(15, TimeUnit.SECONDS);
    };
  }

  // ---- load

  /** Another fault may end it before its time. */
  private static boolean heldSnapshot(Target target, Random random) throws Exception {
    long since = System.nanoTime();
    long until = since + Duration.ofMillis(5_000L + random.nextInt(5_000)).toNanos();
    try (Connection connection = target.database().direct().getConnection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT count(*) FROM holdfast.job");
        while (System.nanoTime() < until) {
          Thread.sleep(100);
          statement.execute("SELECT 1");
        }
      }
      connection.rollback();
      return true;
    } catch (SQLException ended) {
      return System.nanoTime() - since > SNAPSHOT_COUNTS_AFTER.toNanos();
    }
  }

  private static Fault.Strike statement(String sql) {
    return (target, random) -> {
      try {
        target.database().execute(sql);
        return true;
      } catch (SQLException interrupted) {
        return false; // by another fault
      }
    };
  }

  private static boolean migrate(Target target, Random random) {
    return target.fleet().command("migrate").run().code() == 0;
  }
}
