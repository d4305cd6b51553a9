package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.ModelView;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.trace.Outcome;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.maintenance.Periodic;
import dev.holdfast.worker.maintenance.Reaper;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One run: workers, clients and faults for some virtual minutes, then calm until all is done. */
public final class Scenario {
  static final Timings TIMINGS = Timings.DEFAULT;
  static final List<String> QUEUES = List.of("q", "r");

  /** Rarely: most polls of the default find nothing, and there are notifications, too. */
  private static final Duration POLL = Duration.ofSeconds(5);

  private static final long MOST_SWITCHES = 3_000_000;
  private static final Duration CALM_AT_MOST = Duration.ofMinutes(40);

  private final Scheduler scheduler;
  private final Observer observer;
  private final Network network;
  private final Notifications notifications;
  private final ModelView view;
  private final Interpreter queue;
  private final Rules rules;
  private final MemoryStore store;
  private final List<SimulatedWorker> workers = new ArrayList<>();
  private int started;

  private Scenario(long seed, boolean recording) {
    this.scheduler = new Scheduler(seed, MOST_SWITCHES);
    this.observer = new Observer(scheduler, recording);
    this.network = new Network(scheduler, observer);
    this.notifications = new Notifications(scheduler);
    ModelQueue model = new ModelQueue(new PlainCodec(), () -> scheduler.now() / 1_000);
    this.view = new ModelView(model);
    this.queue = observer.observed(model);
    this.rules = new Rules(scheduler, observer, view, TIMINGS);
    this.store = new MemoryStore(rules::placed);
  }

  /** Called by reflection: this class is loaded by a loader of its own. */
  public static Outcome run(long seed, boolean recording) {
    Scenario scenario = new Scenario(seed, recording);
    scenario.run();
    return new Outcome(
        seed,
        scenario.observer.violation(),
        scenario.observer.lines(),
        scenario.observer.calls(),
        scenario.observer.counts(),
        scenario.scheduler.switches(),
        scenario.scheduler.now());
  }

  private void run() {
    Random random = scheduler.random();
    SimulatedProcess outside = new SimulatedProcess(scheduler, "client", 0);
    Duration storm = Duration.ofSeconds(40 + random.nextInt(80));
    network.lossy(random.nextInt(3) == 0 ? 0 : random.nextDouble() * 0.02);
    Thread setUp =
        outside.start(
            "set-up",
            () -> {
              if (random.nextBoolean()) {
                queue.call(new Verb.Limit("r", 2));
              }
              for (int i = 0; i < 2 + random.nextInt(2); i++) {
                startWorker();
              }
            });
    Thread client = outside.start("client", new Clients(this, storm)::run);
    Faults faults = new Faults(this, storm);
    Thread nemesis = outside.start("nemesis", faults::run);
    Thread unused = outside.start("manager", faults::keepOneWorker);
    try {
      scheduler.run(
          Long.MAX_VALUE / 4,
          () -> observer.isViolated() || (ended(setUp) && ended(client) && ended(nemesis)));
      network.lossy(0);
      boolean quiet =
          scheduler.run(
              scheduler.now() + CALM_AT_MOST.toNanos(),
              () -> observer.isViolated() || view.isQuiet());
      if (!observer.isViolated()) {
        if (!quiet) {
          observer.note("nothing more happened for %s", CALM_AT_MOST);
        }
        rules.ended();
      }
    } catch (RuntimeException trouble) {
      observer.violated("the run itself failed: %s", trouble);
    }
  }

  private static boolean ended(Thread thread) {
    return thread.getState() == Thread.State.TERMINATED;
  }

  // ---- what clients and faults use

  Scheduler scheduler() {
    return scheduler;
  }

  Random random() {
    return scheduler.random();
  }

  Observer observer() {
    return observer;
  }

  Network network() {
    return network;
  }

  Notifications notifications() {
    return notifications;
  }

  Interpreter queue() {
    return queue;
  }

  <A> A call(String process, Verb<A> verb) {
    return network.call(process, verb, queue);
  }

  /** The rules hear of it, even if the answer is lost. */
  Decision.Answer decide(String process, Verb.Decide decided) {
    return network.call(
        process,
        "decide",
        () -> {
          Decision.Answer answer = queue.call(decided);
          rules.decided(decided, answer);
          return answer;
        });
  }

  ModelView view() {
    return view;
  }

  Rules rules() {
    return rules;
  }

  List<SimulatedWorker> usableWorkers() {
    return workers.stream().filter(SimulatedWorker::isUsable).toList();
  }

  List<SimulatedWorker> aliveWorkers() {
    return workers.stream().filter(worker -> !worker.process().isDead()).toList();
  }

  void startWorker() {
    String name = "w" + ++started;
    // Wrong by up to a day, in either direction.
    long wrong = random().nextInt(4) == 0 ? random().nextLong(172_800_000) - 86_400_000 : 0;
    SimulatedWorker worker =
        new SimulatedWorker(scheduler, network, name, 1 + random().nextInt(4), wrong);
    workers.removeIf(each -> each.process().isDead());
    workers.add(worker);
    rules.add(worker);
    observer.note("%s starts with %d slots", name, worker.concurrency());
    worker.process().start("main", () -> main(worker));
  }

  private void main(SimulatedWorker self) {
    WorkerOptions options =
        new WorkerOptions(
            self.name(),
            QUEUES,
            self.concurrency(),
            TIMINGS,
            POLL,
            WorkerOptions.DEFAULT_SHUTDOWN_TIMEOUT,
            Backpressure.Settings.OFF,
            new Scratch(Path.of("scratch"), false),
            store,
            new Healing(Budgets.DEFAULT, text -> text.replace(Rules.SECRET, "***")),
            Duration.ofSeconds(60),
            WorkerOptions.DEFAULT_FAILURE_LOG);
    Metrics metrics = new Metrics();
    SimulatedSource source = new SimulatedSource(queue, network, rules, notifications, self.name());
    Reaper reaper = new Reaper(source, TIMINGS, metrics, System::nanoTime);
    Worker worker =
        new Worker(
            source,
            List.of(new Periodic("sweep", reaper::runOnce, TIMINGS.sweep())),
            options,
            new PlainCodec(),
            new Handlers(queue, network, rules, self).all(),
            List.of(),
            metrics);
    worker.start();
    self.runs(worker);
  }
}
