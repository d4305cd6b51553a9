package dev.holdfast.chaos.fault;

import static java.util.Objects.requireNonNull;

import dev.holdfast.chaos.fault.Fault.Reach;
import dev.holdfast.chaos.fleet.Member;
import dev.holdfast.chaos.fleet.MemoryGroup;
import dev.holdfast.chaos.fleet.Volume;
import dev.holdfast.chaos.load.ChaosKinds;
import dev.holdfast.model.job.Job;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** What a machine does to its processes: disks that are full or slow, a wrong clock, no memory. */
final class MachineFaults {
  private static final Duration UNTIL_STARTED = Duration.ofSeconds(30);
  private static final ReentrantLock MEMORY = new ReentrantLock();

  private MachineFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("full-disk-data", Reach.DATABASE, MachineFaults::fullData, Need.VOLUMES),
        new Fault("full-disk-wal", Reach.DATABASE, MachineFaults::fullLog, Need.VOLUMES),
        new Fault("full-disk-work", Reach.PROCESS, MachineFaults::fullWork, Need.VOLUMES),
        new Fault("slow-fsync", Reach.DATABASE, MachineFaults::slowFsync, Need.STRACE),
        new Fault("wrong-clock", Reach.PROCESS, MachineFaults::wrongClock, Need.FAKETIME),
        new Fault("out-of-memory", Reach.PROCESS, MachineFaults::outOfMemory),
        new Fault("memory-limit", Reach.PROCESS, MachineFaults::memoryLimit, Need.MEMORY_GROUP));
  }

  // ---- disks

  /** Statements that need room fail; the server goes on. */
  private static boolean fullData(Target target, Random random) throws Exception {
    Volume volume = requireNonNull(target.server().data());
    volume.fill();
    try {
      boolean refused = refusesRows(target);
      Thread.sleep(1_000L + random.nextInt(2_000));
      return refused;
    } finally {
      volume.empty();
    }
  }

  private static boolean refusesRows(Target target) throws SQLException {
    try {
      target.database().execute("CREATE TABLE chaos.filler AS SELECT generate_series(1, 1000000)");
      target.database().execute("DROP TABLE chaos.filler");
      return false;
    } catch (SQLException full) {
      return "53100".equals(full.getSQLState());
    }
  }

  /**
   * The server crashes as soon as it needs another segment, and cannot recover before there is
   * room.
   */
  private static boolean fullLog(Target target, Random random) throws Exception {
    Volume volume = requireNonNull(target.server().wal());
    volume.fill();
    boolean crashed;
    try {
      crashed = crashes(target);
      Thread.sleep(random.nextInt(1_500));
    } finally {
      volume.empty();
    }
    if (!ProcessHandle.of(target.server().pid()).map(ProcessHandle::isAlive).orElse(false)
        || !answers(target)) {
      target.server().kill();
      target.server().startAgain();
    }
    Faults.waitForDatabase(target);
    return crashed;
  }

  private static boolean crashes(Target target) {
    for (int i = 0; i < 60; i++) {
      try {
        target
            .database()
            .execute("SELECT pg_switch_wal(), pg_logical_emit_message(true, 'x', 'y')");
      } catch (SQLException gone) {
        return true;
      }
    }
    return false;
  }

  private static boolean answers(Target target) throws InterruptedException {
    for (int i = 0; i < 40; i++) {
      if (target.database().answers()) {
        return true;
      }
      Thread.sleep(50);
    }
    return false;
  }

  /** Handlers can write no files. */
  private static boolean fullWork(Target target, Random random) throws Exception {
    Volume volume = requireNonNull(target.fleet().work());
    volume.fill();
    try {
      Thread.sleep(2_000L + random.nextInt(3_000));
      return true;
    } finally {
      volume.empty();
    }
  }

  /** Each commit waits for the disk. */
  private static boolean slowFsync(Target target, Random random) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "strace",
                "-f",
                "-e",
                "trace=fdatasync",
                "-e",
                "inject=fdatasync:delay_exit=" + (20_000 + random.nextInt(180_000))));
    long postmaster = target.server().pid();
    command.addAll(List.of("-p", Long.toString(postmaster)));
    ProcessHandle.of(postmaster).stream()
        .flatMap(ProcessHandle::descendants)
        .forEach(child -> command.addAll(List.of("-p", Long.toString(child.pid()))));
    Path output = Files.createTempFile("chaos-strace-", ".txt");
    Process strace =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      Thread.sleep(3_000L + random.nextInt(2_000));
    } finally {
      strace.destroy(); // it detaches
      if (!strace.waitFor(10, TimeUnit.SECONDS)) {
        strace.destroyForcibly();
      }
    }
    return delayed(output);
  }

  private static boolean delayed(Path output) throws IOException {
    try {
      return Files.readString(output).contains("(DELAYED)");
    } finally {
      Files.deleteIfExists(output);
    }
  }

  // ---- clock and memory

  /** The worker runs by a clock that is hours off, and then by the right one again. */
  private static boolean wrongClock(Target target, Random random) throws Exception {
    Member worker = target.fleet().members(Member.Role.WORKER).getFirst();
    target.fleet().clock(random.nextBoolean() ? "+7h" : "-9h");
    try {
      return restarted(worker) && sleep(6_000L + random.nextInt(6_000));
    } finally {
      target.fleet().clock("");
      restarted(worker);
    }
  }

  private static boolean restarted(Member worker) throws IOException, InterruptedException {
    int starts = worker.starts();
    long pid = worker.pid();
    if (pid != 0) {
      Faults.signal("TERM", pid);
    }
    long end = System.nanoTime() + UNTIL_STARTED.toNanos();
    while (worker.starts() == starts && System.nanoTime() < end) {
      Thread.sleep(50);
    }
    return worker.starts() > starts;
  }

  private static boolean sleep(long millis) throws InterruptedException {
    Thread.sleep(millis);
    return true;
  }

  /** A handler takes all the memory of its process. */
  private static boolean outOfMemory(Target target, Random random) {
    return target.enqueue(Job.of("hungry", new ChaosKinds.Work(10, 0)));
  }

  /**
   * A worker, with the programs that it starts, may take a few more megabytes, and a few seconds
   * later not one page. The kernel kills it as soon as it wants one.
   */
  private static boolean memoryLimit(Target target, Random random) throws Exception {
    MemoryGroup group = requireNonNull(target.memory());
    long pid = Faults.someWorker(target, random);
    // One that is frozen takes nothing.
    if (pid == 0 || !MEMORY.tryLock()) {
      return false;
    }
    try {
      if (!target.fleet().freezing(pid)) {
        return false;
      }
      try {
        return killedByLimit(group, pid, random);
      } finally {
        group.empty();
        target.fleet().thawed(pid);
      }
    } finally {
      MEMORY.unlock();
    }
  }

  private static boolean killedByLimit(MemoryGroup group, long pid, Random random)
      throws Exception {
    int before = group.kills();
    group.limit((1L + random.nextInt(32)) << 20);
    group.add(pid);
    if (!killed(group, before, Duration.ofSeconds(2))) {
      group.limit(0);
    }
    return killed(group, before, Duration.ofSeconds(5));
  }

  private static boolean killed(MemoryGroup group, int before, Duration atMost) throws Exception {
    long end = System.nanoTime() + atMost.toNanos();
    while (group.kills() == before && System.nanoTime() < end) {
      Thread.sleep(50);
    }
    return group.kills() > before;
  }
}
