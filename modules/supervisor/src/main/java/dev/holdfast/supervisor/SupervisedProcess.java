package dev.holdfast.supervisor;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One component and the process in it. Driven by one thread; what needs the database is tried again
 * with the next turn when the database is away, so each turn goes on from what was recorded.
 */
final class SupervisedProcess implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SupervisedProcess.class);

  /** After an outage a pool of connections tries again at intervals of up to five seconds. */
  private static final Duration RETURN = Duration.ofSeconds(10);

  /** Where it stands. */
  private enum Phase {
    /** It is to be started at a certain time. */
    DUE,
    /** It has a process. */
    UP,
    /** Its process was told to end. */
    ENDING,
    /** Its process is gone, and that is still to be recorded. */
    GONE,
    /** Nothing is to be done before somebody says so. */
    OFF
  }

  private final WorkerRegistry registry;
  private final Leftovers leftovers;
  private final SupervisorOptions options;
  private final WorkerCommandLine command;
  private final WorkerLog output;
  private final LongSupplier nanos;
  private final Runnable wake;
  private final Restarts restarts;

  private Phase phase = Phase.DUE;
  private long dueAt;
  private int incarnation;
  private @Nullable Companion process;
  private boolean hasRow;
  private boolean spawnTold;
  private boolean stopTold;
  private boolean counts;
  private long startedAt;
  private @Nullable Instant lastSeen;
  private long heardAt;
  private HealthStatus status = HealthStatus.STARTING;
  private long healthySince;
  private @Nullable String trouble;
  private long troubleSince;
  private boolean paused;
  private int stage;
  private long nextStageAt;
  private boolean wanted = true;
  private @Nullable String why;
  private @Nullable Ending ending;

  /** How a process ended and what follows. */
  private record Ending(
      @Nullable Long pid,
      @Nullable Integer exitCode,
      HealthStatus next,
      String reason,
      @Nullable Duration restartIn) {}

  SupervisedProcess(
      WorkerRegistry registry,
      Leftovers leftovers,
      SupervisorOptions options,
      WorkerCommandLine command,
      WorkerLog output,
      LongSupplier nanos,
      Runnable wake) {
    this.registry = registry;
    this.leftovers = leftovers;
    this.options = options;
    this.command = command;
    this.output = output;
    this.nanos = nanos;
    this.wake = wake;
    this.restarts = new Restarts(options.restarts());
    this.dueAt = nanos.getAsLong();
  }

  String component() {
    return command.component();
  }

  /** Goes on where a supervisor of the same name stopped. */
  void follow(int lastIncarnation) {
    incarnation = Math.max(incarnation, lastIncarnation);
  }

  boolean isUp() {
    return phase == Phase.UP && status == HealthStatus.HEALTHY;
  }

  boolean isStarting() {
    return phase == Phase.UP && status == HealthStatus.STARTING;
  }

  /** It was told to end, has no process, and gets none. */
  boolean isStopped() {
    return phase == Phase.OFF && !wanted;
  }

  /** Has nothing more to record. */
  boolean isOff() {
    return phase == Phase.OFF;
  }

  boolean hasProcess() {
    return process != null && process.isAlive();
  }

  boolean hasProcess(long pid) {
    return process != null && process.pid() == pid;
  }

  // ---- what the database says

  /** An order that was done before this supervisor began and is still in force. */
  void begin(WorkerCommand.Action action) {
    if (action == WorkerCommand.Action.PAUSE) {
      paused = true;
    } else if (action == WorkerCommand.Action.STOP) {
      wanted = false;
      phase = Phase.GONE;
      ending = stopped("stopped by an operator before");
    }
  }

  void order(WorkerCommand order) {
    log.info(
        "{}: {} by {} ({})",
        component(),
        order.action().text(),
        order.requestedBy(),
        order.reason());
    String by = "by " + order.requestedBy() + ": " + order.reason();
    switch (order.action()) {
      case PAUSE -> pause(true);
      case RESUME -> {
        pause(false);
        start();
      }
      case RESTART -> {
        wanted = true;
        if (phase == Phase.UP) {
          end("restarted " + by);
        } else {
          start();
        }
      }
      case STOP -> stop("stopped " + by);
    }
  }

  private void pause(boolean now) {
    if (paused != now) {
      registry.processes().paused(options.name(), component(), now);
      paused = now;
      if (process != null) {
        process.say(now ? "pause" : "resume");
      }
    }
  }

  /** One that waits for its next start goes on waiting: a restart cannot be talked down. */
  private void start() {
    wanted = true;
    if (phase == Phase.OFF) {
      phase = Phase.DUE;
      counts = false;
      dueAt = nanos.getAsLong();
    }
  }

  private void stop(String reason) {
    wanted = false;
    switch (phase) {
      case UP -> end(reason);
      case DUE, OFF -> {
        phase = Phase.GONE;
        ending = stopped(reason);
      }
      case ENDING, GONE -> why = reason;
    }
  }

  /** Ends its process, and starts no other: its supervisor is about to go. */
  void shutDown() {
    wanted = false;
    if (phase == Phase.UP) {
      end("its supervisor was stopped");
    } else if (phase == Phase.DUE) {
      phase = Phase.OFF;
    }
  }

  /** What its row says now. */
  void heard(WorkerHealth row) {
    if (row.incarnation() != incarnation || !row.status().isAlive()) {
      return;
    }
    if (!row.lastSeen().equals(lastSeen)) {
      lastSeen = row.lastSeen();
      heardAt = nanos.getAsLong();
    }
    if (row.status() == HealthStatus.HEALTHY && status == HealthStatus.STARTING) {
      healthySince = nanos.getAsLong();
      log.info("{} is healthy, pid {}", component(), row.pid());
    }
    status = row.status();
    String told = row.status() == HealthStatus.HEALTHY ? row.reason() : null;
    if (told != null && trouble == null) {
      troubleSince = nanos.getAsLong();
    }
    trouble = told;
  }

  /**
   * The database was away: nobody could be heard, so nobody was silent. Its processes may find it
   * later than its supervisor does.
   */
  void couldNotBeHeard() {
    long now = nanos.getAsLong();
    heardAt = now + RETURN.toNanos();
    if (status == HealthStatus.STARTING) {
      startedAt = now;
    }
  }

  // ---- what time and the process say

  /** One turn. */
  void turn() {
    long now = nanos.getAsLong();
    switch (phase) {
      case DUE -> {
        if (now - dueAt >= 0) {
          spawn(now);
        }
      }
      case UP -> watch(now);
      case ENDING -> press(now);
      case GONE -> record();
      case OFF -> {
        // An operator's turn.
      }
    }
  }

  private void spawn(long now) {
    if (counts) {
      restarts.restarted(now);
    }
    counts = true;
    incarnation++;
    try {
      registry.processes().starting(place(), restarts.count(), paused);
      hasRow = true;
    } catch (RuntimeException away) {
      // The same turn comes again; it is not to be counted twice.
      counts = false;
      throw away;
    }
    status = HealthStatus.STARTING;
    lastSeen = null;
    trouble = null;
    why = null;
    startedAt = now;
    heardAt = now;
    spawnTold = false;
    try {
      Companion begun =
          Companion.start(
              arguments(),
              options.folder(),
              command.environment(),
              WorkerLog.LONGEST_LINE,
              (line, cut) -> output.line(line));
      process = begun;
      phase = Phase.UP;
      output.line("--- process " + begun.pid() + " of " + component());
      log.info("{} started, pid {}", component(), begun.pid());
      begun.whenEnded(wake);
    } catch (IOException cannot) {
      log.error("{} cannot be started: {}", component(), cannot.getMessage());
      gone(now, null, "its process could not be started: " + cannot.getMessage());
    }
  }

  private List<String> arguments() {
    List<String> arguments = new ArrayList<>(command.arguments());
    arguments.addAll(
        List.of(
            "--component",
            component(),
            "--supervisor",
            options.name(),
            "--incarnation",
            Integer.toString(incarnation)));
    if (paused) {
      arguments.add("--paused");
    }
    return arguments;
  }

  private WorkerProcesses.Place place() {
    return new WorkerProcesses.Place(options.name(), component(), incarnation);
  }

  private Companion process() {
    return Objects.requireNonNull(process);
  }

  private void watch(long now) {
    if (!process().isAlive()) {
      ended(now);
      return;
    }
    tellSpawn();
    if (why != null) {
      // It was killed, and is not gone yet.
      return;
    }
    if (status == HealthStatus.STARTING) {
      if (now - startedAt > options.boot().toNanos()) {
        giveUp("it was not healthy " + shown(options.boot()) + " after its start");
      }
    } else if (now - heardAt > options.silence().toNanos()) {
      giveUp("it was not heard of for " + shown(options.silence()));
    } else if (trouble != null && now - troubleSince > options.recycle().toNanos()) {
      log.warn("{} (pid {}) is started anew: {}", component(), process().pid(), trouble);
      end("started anew: " + trouble);
    } else if (status == HealthStatus.HEALTHY
        && restarts.forgiven(Duration.ofNanos(now - healthySince))) {
      log.info("{} has been healthy for long enough: its restarts are forgiven", component());
      registry.processes().forgiven(place());
    }
  }

  private void tellSpawn() {
    if (!spawnTold) {
      registry.processes().spawned(place(), process().pid(), process().startedAt());
      spawnTold = true;
    }
  }

  private void giveUp(String reason) {
    log.warn("{} (pid {}) is killed: {}", component(), process().pid(), reason);
    why = reason;
    process().kill();
  }

  private static String shown(Duration duration) {
    return duration.toMillis() / 1000.0 + " s";
  }

  private void ended(long now) {
    registry.readings().of(options.name()).stream()
        .filter(row -> row.component().equals(component()))
        .forEach(this::heard);
    process().finish();
    int exit = process().exitCode();
    boolean asked = status == HealthStatus.STOPPING && exit == WorkerExit.CLEAN;
    if (asked) {
      // Somebody told the process itself, and it went as it should: that was not ours to question.
      wanted = false;
      ending = stopped("it was told to end (SIGTERM), not through its supervisor");
      phase = Phase.GONE;
      record();
      return;
    }
    gone(now, exit, why != null ? why : reason(exit));
  }

  private static String reason(int exit) {
    return "exit " + WorkerExit.shown(exit) + ": " + WorkerExit.of(exit).meaning();
  }

  private void gone(long now, @Nullable Integer exit, String reason) {
    Restarts.Next next = restarts.afterCrash(now);
    Long pid = process == null ? null : Long.valueOf(process.pid());
    ending =
        switch (next) {
          case Restarts.Next.In(Duration delay) ->
              new Ending(pid, exit, HealthStatus.CRASHED, reason, delay);
          case Restarts.Next.GiveUp(String limit) ->
              new Ending(pid, exit, HealthStatus.FAILED, reason + "; " + limit, null);
        };
    output.line("--- gone: " + reason);
    process = null;
    phase = Phase.GONE;
    record();
  }

  private Ending stopped(String reason) {
    return new Ending(
        process == null ? null : Long.valueOf(process.pid()),
        process == null ? null : Integer.valueOf(process.exitCode()),
        HealthStatus.STOPPING,
        reason,
        null);
  }

  /** First its jobs, then its row: who sees that it crashed sees its jobs back. */
  private void record() {
    Ending how = Objects.requireNonNull(ending);
    if (how.pid() != null) {
      leftovers.giveBack(component(), how.pid(), how.reason());
    }
    if (!hasRow) {
      incarnation++;
      registry.processes().starting(place(), 0, paused);
      hasRow = true;
    }
    if (how.next() == HealthStatus.FAILED) {
      registry.processes().ended(place(), HealthStatus.CRASHED, how.exitCode(), how.reason(), null);
    }
    boolean atOnce = wanted && how.next() == HealthStatus.STOPPING;
    registry
        .processes()
        .ended(
            place(),
            how.next(),
            how.exitCode(),
            how.reason(),
            atOnce ? Duration.ZERO : how.restartIn());
    process = null;
    ending = null;
    if (!wanted) {
      phase = Phase.OFF;
      log.info("{} is off: {}", component(), how.reason());
    } else if (how.restartIn() != null) {
      phase = Phase.DUE;
      dueAt = nanos.getAsLong() + how.restartIn().toNanos();
      log.warn(
          "{} crashed ({}); started again in {}",
          component(),
          how.reason(),
          shown(how.restartIn()));
    } else if (atOnce) {
      phase = Phase.DUE;
      counts = false;
      dueAt = nanos.getAsLong();
    } else {
      phase = Phase.OFF;
      log.error(
          "{} has failed ({}); after mending it: holdfast workers resume {}",
          component(),
          how.reason(),
          component());
    }
  }

  // ---- an end that was asked for

  private void end(String reason) {
    why = reason;
    phase = Phase.ENDING;
    stopTold = false;
    stage = 0;
    nextStageAt = nanos.getAsLong() + options.stop().plus(SupervisorOptions.ENDING).toNanos();
    process().say("stop");
  }

  /** Asked, then told, then made. */
  private void press(long now) {
    if (!process().isAlive()) {
      process().finish();
      ending = stopped(why == null ? "stopped" : why);
      output.line("--- ended: " + WorkerExit.shown(process().exitCode()));
      phase = Phase.GONE;
      record();
    } else if (now - nextStageAt >= 0) {
      if (stage == 0) {
        log.warn("{} (pid {}) takes too long to end: SIGTERM", component(), process().pid());
        process().terminate();
      } else {
        log.warn("{} (pid {}) does not end: SIGKILL", component(), process().pid());
        process().kill();
      }
      stage++;
      nextStageAt = now + options.terminate().toNanos();
    } else if (!stopTold) {
      // Last: without a database it must end all the same.
      tellSpawn();
      registry.processes().stopping(place(), why == null ? "stopped" : why);
      stopTold = true;
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.kill();
    }
    output.close();
  }
}
