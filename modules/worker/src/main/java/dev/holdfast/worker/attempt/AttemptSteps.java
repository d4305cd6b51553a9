package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.JobSteps;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.Journal;
import dev.holdfast.worker.steps.ReceivedCommands;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.worker.steps.Strategy;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The steps of one attempt: what is known of them, and the loop that runs them. */
final class AttemptSteps implements JobSteps {
  private static final Map<String, String> CUT_OFF =
      Map.of(
          "class",
          FailureClass.TRANSIENT_RUNTIME.text(),
          "strategy",
          Strategy.QUEUE_RETRY.text(),
          "outcome",
          "interrupted");

  private final Lease lease;

  /** Whether an operator may have asked for something before the job was claimed. */
  private final boolean mayHaveCommand;

  private final int version;
  private final AttemptServices services;
  private final Journal journal;
  private final ReceivedCommands commands = new ReceivedCommands();
  private final Map<String, StepStatus> known = new LinkedHashMap<>();
  private final Set<String> asked = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean versionKept;
  private int last;

  private final boolean mayHaveSteps;

  /** Somebody has asked for all steps at once, and decides alone which of them it needs. */
  private volatile boolean opened;

  // Not the monitor of this object, which guards what is known: commands ask for the order of
  // steps under their own lock, and receive commands while steps are loaded.
  private final Object loading = new Object();

  private volatile @Nullable StepLoop loop;

  /**
   * @param version of the handler; 0 if it has none
   */
  AttemptSteps(LeasedJob job, int version, AttemptServices services, Journal journal) {
    this.lease = job.lease();
    this.mayHaveCommand = job.mayHaveCommand();
    this.mayHaveSteps = job.mayHaveSteps();
    this.version = version;
    this.versionKept = new AtomicBoolean(version == 0 || job.version() != 0);
    this.services = services;
    this.journal =
        new Journal(
            journal.lease(),
            journal.codec(),
            report -> {
              journal.write().accept(report);
              forget(report);
            },
            journal.announce(),
            journal.metrics());
  }

  /** What a report has dropped is not known as done any longer. */
  private synchronized void forget(Report report) {
    if (report instanceof Report.Step step && step.discardFromIndex() != null) {
      int from = step.discardFromIndex();
      known.replaceAll(
          (id, each) ->
              id.equals(step.stepId())
                  ? each.dropped(step.attempt())
                  : each.isDone() && each.index() >= from ? each.dropped(each.attempt()) : each);
    }
  }

  /**
   * The wait or start of jobs that is to be done now: what it was before is dropped if an operator
   * has asked for it.
   */
  StepStatus again(StepStatus before) {
    Optional<PendingCommand.Recovery> wanted =
        commands.pending().filter(recovery -> recovery.stepId().equals(before.id()));
    if (wanted.isEmpty()) {
      return before;
    }
    loop().dropped(before, wanted.get());
    synchronized (this) {
      return Objects.requireNonNull(known.get(before.id()));
    }
  }

  @Override
  public Opened open() {
    keepVersion();
    opened = true;
    load();
    synchronized (this) {
      return new Opened(loop(), List.copyOf(known.values()));
    }
  }

  @Override
  public ReceivedCommands commands() {
    return commands;
  }

  @Override
  public Optional<Patch> patch(String step) {
    return services.source().ask(it -> it.patch(lease, step));
  }

  @Override
  public Budgets budgets() {
    return services.options().healing().budgets();
  }

  void alive() {
    StepLoop running = loop;
    if (running != null) {
      running.alive();
    }
  }

  /** A sign of life that the timeline tells: the step's start comes before it. */
  void report() {
    StepLoop running = loop;
    if (running != null) {
      running.alive();
      running.announce();
    }
  }

  StepLoop loop() {
    StepLoop made = loop;
    if (made == null) {
      throw new IllegalStateException(lease + " has no steps yet");
    }
    return made;
  }

  /**
   * The state of the step, wait or start of jobs, for which a call of the handler asks once; one
   * that was not begun before gets the next index.
   */
  StepStatus ask(String id) {
    keepVersion();
    StepStatus status = status(id);
    if (!asked.add(id)) {
      throw new IllegalStateException(
          "'%s' was asked for in this attempt: each step, wait and start of jobs needs an id of its own"
              .formatted(id));
    }
    return status;
  }

  /**
   * Before anything is begun the job gets the version of its handler: another one could not go on
   * with it. What is reported after this is written after it.
   */
  private void keepVersion() {
    if (versionKept.compareAndSet(false, true)) {
      journal.announce().accept(new Report.Version(lease, version));
    }
  }

  /** What was done before this attempt and was not asked for in it, in the order of the steps. */
  List<String> unused() {
    synchronized (loading) {
      if (opened || (loop == null && !mayHaveSteps)) {
        return List.of();
      }
      if (loop == null) {
        load();
      }
    }
    synchronized (this) {
      return known.values().stream()
          .filter(step -> step.isDone() && !asked.contains(step.id()))
          .map(StepStatus::id)
          .toList();
    }
  }

  /** The handler is called again in the same attempt. */
  void forgetAsked() {
    asked.clear();
  }

  /**
   * What is known when a program is called, which asks for all it needs once more. What an operator
   * wants done again is dropped here: it cannot be when the program asks for it, because it would
   * be told that it is done.
   */
  List<StepStatus> beginCall() {
    opened = true;
    boolean isFirst = loop == null;
    loadOnce();
    if (!isFirst) {
      load();
    }
    forgetAsked();
    commands.pending().map(PendingCommand.Recovery::stepId).map(this::found).ifPresent(this::again);
    synchronized (this) {
      return List.copyOf(known.values());
    }
  }

  private synchronized @Nullable StepStatus found(String id) {
    return known.get(id);
  }

  /** The state of a wait that has a place of its own among the steps, and is asked for there. */
  StepStatus at(String id, int index) {
    loadOnce();
    synchronized (this) {
      return known.computeIfAbsent(id, it -> unknown(it, index));
    }
  }

  /** A wait is over while its attempt goes on. */
  synchronized void ended(String id, WaitEnd end, @Nullable Json payload) {
    StepStatus was = Objects.requireNonNull(known.get(id));
    known.put(
        id,
        new StepStatus(
            id,
            was.index(),
            StepState.DONE,
            was.attempt() + 1,
            was.resets(),
            payload,
            null,
            was.startedAt(),
            null,
            null,
            end));
  }

  private StepStatus status(String id) {
    loadOnce();
    synchronized (this) {
      return known.computeIfAbsent(id, this::first);
    }
  }

  private void loadOnce() {
    synchronized (loading) {
      if (loop == null && lease.attempt() == 1 && !mayHaveCommand && !mayHaveSteps) {
        keep(List.of());
      } else if (loop == null) {
        load();
      }
    }
  }

  private StepStatus first(String id) {
    if (last >= Limits.STEPS) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "'%s' is one too many: a job has at most %,d steps, waits and starts of jobs"
              .formatted(id, Limits.STEPS));
    }
    return unknown(id, ++last);
  }

  private static StepStatus unknown(String id, int index) {
    return new StepStatus(
        id, index, StepState.FAILED, 0, 0, null, null, Instant.EPOCH, null, null, null);
  }

  synchronized boolean isBefore(String id, StepStatus step) {
    StepStatus other = known.get(id);
    return other != null && other.index() < step.index();
  }

  /** Whether an operator wants this step or one before it done again. */
  boolean isAskedFor(StepStatus step) {
    return commands
        .pending()
        .map(recovery -> recovery.concerns(step.id(), id -> isBefore(id, step)))
        .orElse(false);
  }

  /** Whether an operator wants a step done again, so that artifacts of the job do not count. */
  boolean isSentBack() {
    if (lease.attempt() > 1) {
      load();
    }
    return commands.pending().isPresent();
  }

  void load() {
    synchronized (loading) {
      // What operators asked before the attempt began must hold up its first step, too. Heartbeats
      // have one connection, so thousands of jobs that go on at once must not each need one.
      if (mayHaveCommand || loop != null) {
        Duration time = services.options().timings().lease();
        services
            .source()
            .ask(it -> it.heartbeat(List.of(lease), time))
            .forEach(result -> commands.onCommand(result.pendingCommand()));
      }
      keep(services.source().ask(it -> it.steps(lease)));
    }
  }

  private synchronized void keep(List<StepStatus> loaded) {
    known.clear();
    loaded.forEach(step -> known.put(step.id(), step));
    last = loaded.stream().mapToInt(StepStatus::index).max().orElse(0);
    if (loop == null) {
      // The worker that ran these has died and did not count them.
      loaded.stream()
          .filter(step -> step.state() == StepState.INTERRUPTED)
          .forEach(step -> journal.metrics().count(StepLoop.ATTEMPTS, CUT_OFF));
      loop =
          new StepLoop(
              services.options().timings().cancelGrace(),
              loaded.stream().mapToInt(StepStatus::resets).sum(),
              journal,
              commands,
              services.options().healing().redact(),
              services.threads()::startBeside);
      if (loaded.isEmpty()) {
        loop().beginsAnew();
      }
    }
  }
}
