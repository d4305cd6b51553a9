package dev.holdfast.simulation.scenario;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.supervision.Child;
import dev.holdfast.simulation.supervision.Database;
import dev.holdfast.simulation.supervision.Registry;
import dev.holdfast.simulation.trace.Outcome;
import dev.holdfast.supervisor.RestartPolicy;
import dev.holdfast.supervisor.Supervisor;
import dev.holdfast.supervisor.SupervisorOptions;
import dev.holdfast.supervisor.WorkerCommandLine;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

/**
 * One run of a supervisor as it ships, over worker processes that crash, hang and do not listen.
 */
public final class SupervisorScenario {
  private static final long SECOND = 1_000_000_000L;
  private static final long MOST_SWITCHES = 3_000_000;
  private static final List<String> COMPONENTS = List.of("worker:q:1", "worker:q:2");
  private static final Duration SILENCE = WorkerHealth.TIMEOUT;
  private static final Duration BOOT = Duration.ofSeconds(60);
  private static final RestartPolicy POLICY = RestartPolicy.DEFAULT;

  /** Past the silence: what a supervisor allows after an outage, and a moment. */
  private static final long KILLED_WITHIN = SILENCE.plusSeconds(20).toNanos();

  private static final long OUTAGE_COUNTS_FOR = 60 * SECOND;

  /** It may take as long until a process that is told to stop has stopped. */
  private static final long COMMAND_COUNTS_FOR = 60 * SECOND;

  private final Scheduler scheduler;
  private final Observer observer;
  private final Network network;
  private final Database database;
  private final List<SimulatedChild> children = new ArrayList<>();
  private final Map<String, SimulatedChild> last = new HashMap<>();
  private final Map<String, List<Long>> restarts = new HashMap<>();
  private final Map<String, Long> endedAt = new HashMap<>();
  private final Map<String, Boolean> crashed = new HashMap<>();
  private long lastOutage = Long.MIN_VALUE / 2;
  private long pids = 1_000;

  private SupervisorScenario(long seed, boolean recording) {
    this.scheduler = new Scheduler(seed, MOST_SWITCHES);
    this.observer = new Observer(scheduler, recording);
    this.network = new Network(scheduler, observer);
    this.database =
        new Database(
            new WayThere(), this::started, () -> Instant.ofEpochSecond(0, scheduler.now()));
  }

  /** Called by reflection: this class is loaded by a loader of its own. */
  public static Outcome run(long seed, boolean recording) {
    SupervisorScenario scenario = new SupervisorScenario(seed, recording);
    scenario.database.use(scenario.scheduler);
    try {
      scenario.run();
    } finally {
      Database.forget(scenario.scheduler);
    }
    return new Outcome(
        seed,
        scenario.observer.violation(),
        scenario.observer.lines(),
        List.of(),
        scenario.observer.counts(),
        scenario.scheduler.switches(),
        scenario.scheduler.now());
  }

  /** Calls of the supervisor, whose trouble is the queue's own exception. */
  private final class WayThere implements Database.Way {
    @Override
    public <T> T call(String verb, Supplier<T> effect) {
      try {
        return network.call("supervisor", verb, effect);
      } catch (SourceUnavailableException away) {
        throw new DatabaseException(
            DatabaseException.Reason.UNAVAILABLE, String.valueOf(away.getMessage()), away);
      }
    }
  }

  private void run() {
    SimulatedProcess process = new SimulatedProcess(scheduler, "supervisor", 0);
    SimulatedProcess outside = new SimulatedProcess(scheduler, "outside", 0);
    process.start("main", this::supervise);
    Thread nemesis = outside.start("nemesis", this::breakThings);
    try {
      scheduler.run(
          Long.MAX_VALUE / 4,
          () -> observer.isViolated() || nemesis.getState() == Thread.State.TERMINATED);
      boolean unused = scheduler.run(scheduler.now() + 200 * SECOND, observer::isViolated);
      atTheEnd();
    } catch (RuntimeException trouble) {
      observer.violated("the run itself failed: %s", trouble);
    }
  }

  /** By reflection: for the compiler the supervisor still takes the registry that ships. */
  private void supervise() {
    SupervisorOptions options =
        new SupervisorOptions(
            "s",
            BOOT,
            SILENCE,
            SupervisorOptions.LOOK,
            Duration.ofSeconds(10),
            SupervisorOptions.TERMINATE,
            Duration.ofMinutes(1),
            POLICY,
            Path.of(""),
            Path.of("target"),
            1);
    List<WorkerCommandLine> commands =
        COMPONENTS.stream()
            .map(component -> new WorkerCommandLine(component, List.of("worker"), Map.of()))
            .toList();
    try {
      Method start =
          Arrays.stream(Supervisor.class.getMethods())
              .filter(each -> each.getName().equals("start"))
              .findFirst()
              .orElseThrow();
      Object unused =
          start.invoke(
              null,
              new Registry(),
              options,
              commands,
              new Supervisor.Output(line -> {}, (before, line) -> line));
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException(failed);
    }
  }

  // ---- what breaks

  private void breakThings() {
    Random random = scheduler.random();
    long until = scheduler.now() + (120 + random.nextInt(400)) * SECOND;
    try {
      while (scheduler.now() < until && !observer.isViolated()) {
        Thread.sleep(500 + random.nextInt(40_000));
        List<SimulatedChild> alive = children.stream().filter(SimulatedChild::isAlive).toList();
        SimulatedChild any = alive.isEmpty() ? null : alive.get(random.nextInt(alive.size()));
        switch (random.nextInt(7)) {
          case 0, 1 -> {
            if (any != null) {
              told("kill", any.component());
              any.end(137);
            }
          }
          case 2, 3 -> {
            if (any != null && any.frozenNanos() == 0) {
              long time = random.nextLong(90 * SECOND);
              told("freeze", any.component() + " for " + time / SECOND + " s");
              any.freeze(time);
            }
          }
          case 4 -> outage(Duration.ofMillis(random.nextInt(80_000)));
          default -> command(random);
        }
        watch();
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void told(String fault, String what) {
    observer.count("child: " + fault);
    observer.note("FAULT %s %s", fault, what);
  }

  private void outage(Duration time) {
    told("outage", time.toString());
    network.cutAll(time);
    lastOutage = Math.max(lastOutage, scheduler.now() + time.toNanos());
  }

  private void command(Random random) {
    WorkerCommand.Action[] actions = WorkerCommand.Action.values();
    WorkerCommand.Action action = actions[random.nextInt(actions.length)];
    String component = COMPONENTS.get(random.nextInt(COMPONENTS.size()));
    told("command", action + " " + component);
    database.command(
        new WorkerCommand(pids++, "s", component, action, "somebody", "asked", Instant.EPOCH));
    if (action == WorkerCommand.Action.STOP) {
      database.command(
          new WorkerCommand(
              pids++,
              "s",
              component,
              WorkerCommand.Action.RESUME,
              "somebody",
              "asked",
              Instant.EPOCH));
    }
  }

  // ---- what must hold

  private Child started(String component, int incarnation) {
    SimulatedChild before = last.get(component);
    if (before != null) {
      if (before.isAlive()) {
        observer.violated("%s is started while pid %d still runs", component, before.pid());
      }
      String prefix = WorkerHealth.namePrefix(component, Machine.name(), before.pid());
      if (!database.isRecovered(prefix)) {
        observer.violated(
            "%s is started before the jobs of pid %d were requeued", component, before.pid());
      }
    }
    if (Boolean.TRUE.equals(crashed.get(component))) {
      restarted(component);
    }
    SimulatedChild child = new SimulatedChild(this, component, incarnation, ++pids);
    observer.count("child started");
    observer.note("%s starts as pid %d", component, child.pid());
    children.removeIf(each -> !each.isAlive());
    children.add(child);
    last.put(component, child);
    return child;
  }

  private void restarted(String component) {
    long now = scheduler.now();
    long ended = endedAt.getOrDefault(component, 0L);
    boolean byOperator =
        database
            .commandRead(component)
            .isAfter(Instant.ofEpochSecond(0, ended - COMMAND_COUNTS_FOR));
    if (byOperator) {
      return;
    }
    List<Long> times = restarts.computeIfAbsent(component, each -> new ArrayList<>());
    times.add(now);
    Instant anew = database.restartRead(component);
    times.removeIf(at -> Instant.ofEpochSecond(0, at).isBefore(anew));
    long within =
        times.stream().filter(at -> now - at < POLICY.rapidWindow().toNanos() - SECOND).count();
    if (within > POLICY.rapidLimit()) {
      observer.violated("%s was restarted %d times within five minutes", component, within);
    }
    if (now - ended < POLICY.firstDelay().toNanos()) {
      observer.violated("%s is restarted without delay", component);
    }
  }

  void childEnded(SimulatedChild child, int exit) {
    observer.note("%s pid %d ends with %d", child.component(), child.pid(), exit);
    endedAt.put(child.component(), scheduler.now());
    crashed.put(child.component(), !child.wasTold());
  }

  /** A process that reports, and could be heard, is never killed unless it was told to stop. */
  void killed(SimulatedChild child) {
    long ago = scheduler.now() - child.lastBeat();
    // What it reports while its supervisor acts on a row that was too old comes too late: also in
    // the time that it is given to end by itself.
    boolean tooLate =
        ago < SupervisorOptions.TERMINATE.toNanos() + 2 * SECOND
            && child.silenceBefore() > SILENCE.toNanos() - 2 * SECOND;
    boolean heard = ago < 12 * SECOND && !tooLate;
    boolean calm = scheduler.now() - lastOutage > OUTAGE_COUNTS_FOR;
    if (child.isAlive() && !child.wasTold() && child.isHealthy() && heard && calm) {
      observer.violated(
          "%s pid %d is killed %.1f s after its last report",
          child.component(), child.pid(), (scheduler.now() - child.lastBeat()) / 1e9);
    }
    observer.count("child killed by its supervisor");
  }

  /** One that reports nothing is killed. */
  private void watch() {
    for (SimulatedChild child : children) {
      long silent = Math.min(scheduler.now() - child.lastBeat(), scheduler.now() - lastOutage);
      boolean wasHealthy = child.isHealthy();
      long limit = wasHealthy ? KILLED_WITHIN : BOOT.plusSeconds(20).toNanos();
      if (child.isAlive() && silent > limit + 30 * SECOND) {
        observer.violated(
            "%s pid %d has reported nothing for %.1f s and still runs",
            child.component(), child.pid(), silent / 1e9);
      }
    }
  }

  private void atTheEnd() {
    for (String component : COMPONENTS) {
      SimulatedChild child = last.get(component);
      HealthStatus status = database.statusOf(component);
      boolean runs =
          child != null
              && (child.isAlive()
                  || scheduler.now() - endedAt.getOrDefault(component, 0L) < 10 * SECOND);
      if (!runs && status != HealthStatus.FAILED && status != HealthStatus.CRASHED) {
        observer.violated("%s does not run, and its row says %s", component, status);
      }
    }
  }

  Scheduler scheduler() {
    return scheduler;
  }

  Network network() {
    return network;
  }

  Database database() {
    return database;
  }
}
