package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Middleware;
import dev.holdfast.worker.handler.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * The workers of an application. They start when all else has started, and stop before anything
 * else does, so that handlers find every bean at work.
 */
public final class HoldfastWorkers implements SmartLifecycle {
  private static final Logger log = LoggerFactory.getLogger(HoldfastWorkers.class);

  /** With what stopping takes besides, less than Spring waits for by default. */
  private static final Duration SHUTDOWN = Duration.ofSeconds(20);

  private final Holdfast holdfast;
  private final HoldfastProperties properties;
  private final JobHandlers handlers;
  private final Extras extras;
  private volatile List<Worker> running = List.of();

  /**
   * Beans that take part in every worker.
   *
   * @param virtualThreads whether the application wants them, for kinds that do not say so
   */
  record Extras(
      List<WorkerCustomizer> customizers,
      List<JobListener> listeners,
      List<Middleware> middleware,
      List<ArtifactStore> stores,
      boolean virtualThreads) {}

  HoldfastWorkers(
      Holdfast holdfast, HoldfastProperties properties, JobHandlers handlers, Extras extras) {
    this.holdfast = holdfast;
    this.properties = properties;
    this.handlers = handlers;
    this.extras = extras;
  }

  @Override
  public synchronized void start() {
    JobHandlers.Found found = handlers.find();
    List<Kind<?>> kinds = found.kinds();
    // Also where no worker runs: what they are enqueued with is decided here.
    kinds.stream()
        .filter(kind -> !kind.defaults().equals(JobDefaults.NONE))
        .sorted(Comparator.comparingInt(Kind::version))
        .forEach(kind -> holdfast.defaults(kind.name(), kind.defaults()));
    if (properties.schedules()) {
      found.schedules().forEach(holdfast.admin()::schedule);
    }
    if (kinds.isEmpty()) {
      log.info("no @JobHandler and no bean of type Kind: this application enqueues jobs only");
      return;
    }
    List<Worker> started = new ArrayList<>();
    try {
      properties
          .allWorkers()
          .forEach(
              (name, worker) -> {
                if (worker.isEnabled()) {
                  started.add(builder(name, worker, kinds).start());
                }
              });
    } catch (RuntimeException refused) {
      started.forEach(Worker::close);
      throw refused;
    }
    running = List.copyOf(started);
  }

  private WorkerBuilder builder(
      String name, HoldfastProperties.Worker settings, List<Kind<?>> kinds) {
    WorkerBuilder builder =
        holdfast
            .worker(settings.served().toArray(String[]::new))
            .handle(kinds.stream().map(this::onItsThreads).toList())
            .timings(settings.leases())
            .shutdownTimeout(
                settings.shutdownTimeout() == null ? SHUTDOWN : settings.shutdownTimeout());
    if (settings.concurrency() != null) {
      builder.concurrency(settings.concurrency());
    }
    if (settings.pollInterval() != null) {
      builder.poll(settings.pollInterval());
    }
    if (settings.unknownKindTimeout() != null) {
      builder.unknownKinds(settings.unknownKindTimeout());
    }
    if (settings.failureLog() != null) {
      builder.failureLog(settings.failureLog());
    }
    if (settings.folder() != null) {
      builder
          .artifacts(new FolderStore(settings.folder()))
          .scratch(new Scratch(settings.folder().resolve("scratch"), false));
    }
    extras.stores().forEach(builder::artifacts);
    extras.customizers().forEach(each -> each.customize(name, builder));
    extras.listeners().forEach(builder::listener);
    extras.middleware().forEach(builder::around);
    return builder;
  }

  private Kind<?> onItsThreads(Kind<?> kind) {
    return extras.virtualThreads() && kind.threads() == Threads.AUTO
        ? kind.threads(Threads.VIRTUAL)
        : kind;
  }

  /**
   * For tests: runs every job that is due in the queues of all workers, enabled or not, and those
   * that they enqueue, and returns when none is left.
   */
  public void drain() {
    List<Kind<?>> kinds = handlers.find().kinds();
    properties.allWorkers().forEach((name, worker) -> builder(name, worker, kinds).drain());
  }

  /** Those that run now. */
  public List<Worker> running() {
    return running;
  }

  @Override
  public void stop() {
    CountDownLatch stopped = new CountDownLatch(1);
    stop(stopped::countDown);
    try {
      stopped.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** All at the same time: each may take as long as its running jobs. */
  @Override
  public void stop(Runnable callback) {
    List<Worker> stopping = running;
    running = List.of();
    Thread.ofPlatform()
        .name("holdfast-stop")
        .start(
            () -> {
              List<Thread> threads =
                  stopping.stream()
                      .map(worker -> Thread.ofPlatform().name(worker.name()).start(worker::close))
                      .toList();
              try {
                for (Thread thread : threads) {
                  thread.join();
                }
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
              } finally {
                callback.run();
              }
            });
  }

  @Override
  public boolean isRunning() {
    return !running.isEmpty();
  }

  /** For the health of the application: which workers it has by name, and what they do. */
  Map<String, Object> report() {
    return running.stream()
        .collect(
            Collectors.toMap(
                Worker::name,
                worker ->
                    Map.of(
                        "running", worker.running().size(),
                        "overdue", worker.overdue().size())));
  }
}
