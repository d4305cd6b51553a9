package dev.holdfast;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.FailureLog;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Middleware;
import dev.holdfast.worker.maintenance.Periodic;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

/** Collects what a worker needs, and starts it. */
public final class WorkerBuilder {
  /** Where a worker keeps files by default. */
  static final Path DEFAULT_FOLDER = Path.of(".holdfast");

  private final Consumer<Kind<?>> declared;
  private final JobSource source;
  private final @Nullable QueueUpkeep upkeep;
  private final Codec codec;
  private final List<String> queues;
  private final List<Kind<?>> kinds = new ArrayList<>();
  private final List<JobListener> listeners = new ArrayList<>();
  private final List<Middleware> middleware = new ArrayList<>();
  private String component;
  private boolean paused;
  private int concurrency = WorkerOptions.DEFAULT_CONCURRENCY;
  private Timings timings = Timings.DEFAULT;
  private Duration poll = WorkerOptions.DEFAULT_POLL;
  private Duration shutdownTimeout = WorkerOptions.DEFAULT_SHUTDOWN_TIMEOUT;
  private Backpressure.Settings backpressure = Backpressure.Settings.OFF;
  private Scratch scratch = new Scratch(DEFAULT_FOLDER.resolve("scratch"), false);
  private Budgets budgets = Budgets.DEFAULT;
  private UnaryOperator<String> redact = Scrubber.knowing(List.of())::scrub;
  private Duration unknownKinds = WorkerOptions.DEFAULT_UNKNOWN_KINDS;
  private FailureLog failureLog = WorkerOptions.DEFAULT_FAILURE_LOG;
  private @Nullable Metrics metrics;
  private ArtifactStore artifacts = new FolderStore(DEFAULT_FOLDER);

  /**
   * @param upkeep null where a server does it
   * @param declared called for each kind that gets a handler
   */
  WorkerBuilder(
      JobSource source,
      @Nullable QueueUpkeep upkeep,
      Codec codec,
      List<String> queues,
      Consumer<Kind<?>> declared) {
    this.declared = declared;
    this.source = source;
    this.upkeep = upkeep;
    this.codec = codec;
    this.queues = queues;
    this.component = "worker:" + (queues.isEmpty() ? "" : queues.getFirst()) + ":0";
  }

  /** What the handler returns is the job's result. */
  public <T> WorkerBuilder handle(String kind, Class<T> payload, Handler<T> handler) {
    return handle(Kind.of(kind, payload, handler));
  }

  /** For jobs without a payload; whatever payload one has is passed over. */
  public WorkerBuilder handle(String kind, Handler.WithoutPayload handler) {
    return handle(Kind.of(kind, handler));
  }

  /** For payloads whose type has parameters: {@code new PayloadType<List<Mail>>() {}}. */
  public <T> WorkerBuilder handle(String kind, PayloadType<T> payload, Handler<T> handler) {
    return handle(Kind.of(kind, payload, handler));
  }

  /** With a retry policy for failed jobs of the kind. */
  public <T> WorkerBuilder handle(
      String kind, Class<T> payload, RetryPolicy retry, Handler<T> handler) {
    return handle(Kind.of(kind, payload, handler).retry(retry));
  }

  /**
   * A kind with all that it declares. A second handler of a kind is refused, unless each has a
   * {@link Kind#version(int) version} of its own.
   */
  public WorkerBuilder handle(Kind<?> kind) {
    int highest = 0;
    for (Kind<?> other : kinds) {
      if (other.name().equals(kind.name())) {
        if (other.version() == kind.version()) {
          throw new IllegalArgumentException(
              kind.version() == 0
                  ? "kind '%s' has two handlers: register one of them, or give the other its own kind"
                      .formatted(kind.name())
                  : "version %d of kind '%s' has two handlers: register one of them"
                      .formatted(kind.version(), kind.name()));
        }
        if (other.version() == 0 || kind.version() == 0) {
          throw new IllegalArgumentException(
              "kind '%s' has a handler with a version and one without: give each a version"
                  .formatted(kind.name()));
        }
        highest = Math.max(highest, other.version());
      }
    }
    kinds.add(kind);
    // What is enqueued now will be run by the highest version.
    if (kind.version() >= highest) {
      declared.accept(kind);
    }
    return this;
  }

  /** Several kinds. */
  public WorkerBuilder handle(Collection<? extends Kind<?>> more) {
    more.forEach(this::handle);
    return this;
  }

  /** How many jobs at once. */
  public WorkerBuilder concurrency(int value) {
    concurrency = value;
    return this;
  }

  /**
   * Heartbeat, lease and grace periods; but for the cancel grace period the same for all workers of
   * a database.
   */
  public WorkerBuilder timings(Timings value) {
    timings = value;
    return this;
  }

  /** How often to look for jobs that no notification announced. */
  public WorkerBuilder poll(Duration value) {
    poll = value;
    return this;
  }

  /** How long running jobs may take to finish when the worker is closed. */
  public WorkerBuilder shutdownTimeout(Duration value) {
    shutdownTimeout = value;
    return this;
  }

  /** When to claim nothing more for a while, because the machine is busy. */
  public WorkerBuilder backpressure(Backpressure.Settings value) {
    backpressure = value;
    return this;
  }

  /** Where handlers find their scratch folders; each is made when its handler asks for it. */
  public WorkerBuilder scratch(Scratch value) {
    scratch = value;
    return this;
  }

  /** Where artifacts go; a folder that all machines share lets any of them find what is done. */
  public WorkerBuilder artifacts(ArtifactStore value) {
    artifacts = value;
    return this;
  }

  /** How often steps that fail or hang are tried again; a step may have budgets of its own. */
  public WorkerBuilder budgets(Budgets value) {
    budgets = value;
    return this;
  }

  /**
   * Hides secrets in the texts of failures and questions, in messages of progress, in what is
   * reported of steps and in log lines, before they leave the worker. Unless given, secrets are
   * recognised by their form and by their names; {@code Scrubber.knowing(secrets)::scrub} also
   * hides known values.
   */
  public WorkerBuilder redact(UnaryOperator<String> value) {
    redact = value;
    return this;
  }

  /**
   * How long a job of a kind that no live worker has a handler for is left alone before it fails;
   * zero fails it at once.
   */
  public WorkerBuilder unknownKinds(Duration value) {
    unknownKinds = value;
    return this;
  }

  /**
   * At which level failed attempts are logged, each with its message and its stack trace, without
   * secrets; {@code WARN} by default.
   */
  public WorkerBuilder failureLog(FailureLog value) {
    failureLog = value;
    return this;
  }

  /** The component id, {@code worker:{queue}:{n}}. */
  public WorkerBuilder component(String value) {
    component = value;
    return this;
  }

  /** Takes no jobs before {@link Worker#resume}. */
  public WorkerBuilder paused(boolean value) {
    paused = value;
    return this;
  }

  /** Called about jobs of the worker, on the worker's threads. */
  public WorkerBuilder listener(JobListener listener) {
    listeners.add(listener);
    return this;
  }

  /** Runs around every handler; of several, the one given first is the outermost. */
  public WorkerBuilder around(Middleware value) {
    middleware.add(value);
    return this;
  }

  /** The metrics of the worker, for callers that read them from the start; one for each worker. */
  public WorkerBuilder metrics(Metrics value) {
    metrics = value;
    return this;
  }

  /**
   * Throws one exception that says what to do when this worker could not work: it has no handlers,
   * the source cannot be reached within some seconds, the schema is not the right one, or the pool
   * has too few connections. Once it runs it waits for a source that is unavailable, without end.
   */
  public Worker start() {
    Worker worker = checked(source, true, unknownKinds, listeners);
    if (paused) {
      worker.pause();
    }
    return worker.start();
  }

  /**
   * For tests: runs every job that is due, and those they enqueue, on real handlers and returns
   * when none is left. Jobs that wait for a later time are left alone. A job that fails is logged;
   * without a logger its failure is printed on standard error.
   */
  public void drain() {
    drain(UnaryOperator.identity());
  }

  /**
   * The same with something between the worker and where its jobs come from, which loses calls or
   * answers.
   */
  public void drain(UnaryOperator<JobSource> between) {
    List<JobListener> all = new ArrayList<>(listeners);
    if (LoggerFactory.getILoggerFactory() instanceof NOPLoggerFactory) {
      all.add(new PrintedFailures());
    }
    // A missing handler fails the job at once.
    checked(between.apply(source), false, Duration.ZERO, all).drain();
  }

  private Worker checked(
      JobSource from, boolean listens, Duration unknown, List<JobListener> told) {
    WorkerOptions options = options(unknown);
    // It would claim jobs all the same, and fail each of them for good.
    if (kinds.isEmpty()) {
      throw new IllegalStateException(
          "no handlers: give this worker one with handle(kind, type, handler) before it starts");
    }
    from.check(queues, listens);
    List<Kind<?>> wrapped = new ArrayList<>();
    kinds.forEach(kind -> wrapped.add(wrapped(kind)));
    Metrics counted = metrics == null ? new Metrics() : metrics;
    List<Periodic> tasks = upkeep == null ? List.of() : upkeep.ofWorker(options, kinds, counted);
    return new Worker(from, tasks, options, codec, wrapped, told, counted);
  }

  private <T> Kind<T> wrapped(Kind<T> kind) {
    Handler<T> handler = kind.handler();
    for (Middleware each : middleware.reversed()) {
      handler = each.applied(handler);
    }
    return kind.handler(handler);
  }

  private WorkerOptions options(Duration unknown) {
    return new WorkerOptions(
        name(),
        queues,
        concurrency,
        timings,
        poll,
        shutdownTimeout,
        backpressure,
        scratch,
        artifacts,
        new Healing(budgets, redact),
        unknown,
        failureLog);
  }

  private String name() {
    String unique = Long.toString(ThreadLocalRandom.current().nextLong(36L * 36 * 36 * 36), 36);
    return WorkerHealth.namePrefix(component, Machine.name(), ProcessHandle.current().pid())
        + unique;
  }
}
