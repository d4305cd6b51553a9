package dev.holdfast.app.run;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.KindProvider;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.config.WorkerConfig;
import dev.holdfast.app.config.WorkspaceConfig;
import dev.holdfast.app.config.file.RuntimeSettings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Plural;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.OverdueHandler;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.workspace.Workspaces;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The worker of a process, made from the settings. */
final class WorkerProcess implements AutoCloseable {
  private static final Set<String> FOR_GIT =
      Set.of(
          "SSH_AUTH_SOCK",
          "HTTPS_PROXY",
          "https_proxy",
          "HTTP_PROXY",
          "http_proxy",
          "NO_PROXY",
          "no_proxy",
          "SSL_CERT_FILE",
          "GIT_SSL_CAINFO");

  private final Worker worker;
  private final int concurrency;
  private final String description;

  private WorkerProcess(Worker worker, int concurrency, String description) {
    this.worker = worker;
    this.concurrency = concurrency;
    this.description = description;
  }

  /** A worker that is connected to the database. */
  static WorkerProcess start(
      Settings settings, Access access, @Nullable String component, List<BundledKinds> bundled) {
    return start(settings, access, component, bundled, false);
  }

  static WorkerProcess start(
      Settings settings,
      Access access,
      @Nullable String component,
      List<BundledKinds> bundled,
      boolean paused) {
    access.retain(settings);
    return start(
        settings,
        access.holdfast().worker(queues(settings)).paused(paused),
        kinds(settings, provider -> provider.kinds(access.holdfast()), bundled),
        component);
  }

  /** A worker that calls a server. */
  static WorkerProcess start(
      Settings settings,
      HttpSource server,
      @Nullable String component,
      List<BundledKinds> bundled) {
    List<Kind<?>> kinds = kinds(settings, WorkerProcess::withoutDatabase, bundled);
    return start(settings, Holdfast.worker(server, queues(settings)), kinds, component);
  }

  private static String[] queues(Settings settings) {
    return settings.worker().queues().toArray(String[]::new);
  }

  private static WorkerProcess start(
      Settings settings, WorkerBuilder empty, List<Kind<?>> kinds, @Nullable String component) {
    WorkerConfig config = settings.worker();
    WorkerBuilder builder = configured(settings, empty, kinds);
    if (component != null) {
      builder.component(component);
    }
    Worker worker = started(builder);
    String names = kinds.stream().map(Kind::name).sorted().collect(Collectors.joining(", "));
    return new WorkerProcess(
        worker,
        config.concurrency(),
        "%s serves %s, %s at once; kinds: %s"
            .formatted(
                worker.name(),
                String.join(", ", config.queues()),
                Plural.of(config.concurrency(), "job"),
                names));
  }

  private static WorkerBuilder configured(
      Settings settings, WorkerBuilder builder, List<Kind<?>> kinds) {
    try {
      builder.handle(kinds);
    } catch (IllegalArgumentException twice) {
      throw new CommandException(ExitCode.HANDLERS, String.valueOf(twice.getMessage()));
    }
    WorkerConfig config = settings.worker();
    return builder
        .concurrency(config.concurrency())
        .timings(settings.timings())
        .poll(config.pollInterval())
        .shutdownTimeout(config.shutdownTimeout())
        .backpressure(settings.backpressure().toSettings())
        .scratch(settings.storage().scratch())
        .artifacts(settings.storage().artifacts())
        .budgets(settings.steps().budgets())
        .redact(settings.scrubber()::scrub)
        .unknownKinds(config.unknownKindTimeout())
        .failureLog(config.failureLog());
  }

  private static Worker started(WorkerBuilder builder) {
    try {
      return builder.start();
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }

  private static Collection<Kind<?>> withoutDatabase(KindProvider provider) {
    Collection<Kind<?>> kinds = provider.kinds();
    if (kinds.isEmpty()) {
      Terminal.error(
          "holdfast: the handlers of "
              + provider.getClass().getName()
              + " need the database and are not loaded");
    }
    return kinds;
  }

  private static List<Kind<?>> kinds(
      Settings settings,
      Function<KindProvider, Collection<Kind<?>>> provided,
      List<BundledKinds> bundled) {
    List<Kind<?>> kinds = new ArrayList<>();
    Codec codec = new JacksonCodec();
    Scrubber scrubber = settings.scrubber();
    settings.programs().forEach(program -> kinds.add(program.toKind(codec, scrubber)));
    if (!settings.runtimes().isEmpty()) {
      kinds.add(workspaces(settings).kind(codec, scrubber));
    }
    try {
      for (KindProvider provider : ServiceLoader.load(KindProvider.class)) {
        kinds.addAll(provided.apply(provider));
      }
    } catch (ServiceConfigurationError | RuntimeException broken) {
      throw new CommandException(
          ExitCode.HANDLERS,
          "the handlers could not be loaded: " + Terminal.oneLine(String.valueOf(broken)));
    }
    bundled.forEach(some -> kinds.addAll(some.kinds()));
    // Without handlers it would claim jobs and fail all of them.
    if (kinds.isEmpty()) {
      throw new CommandException(
          ExitCode.HANDLERS,
          "no handlers: name programs under 'handlers' in holdfast.yaml, put jars with a"
              + " dev.holdfast.KindProvider on HOLDFAST_CLASSPATH, or try --examples");
    }
    return kinds;
  }

  /** The variables by which git reaches servers; it gets no others of the worker. */
  private static Map<String, String> gitEnvironment() {
    return System.getenv().entrySet().stream()
        .filter(variable -> FOR_GIT.contains(variable.getKey()))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static Workspaces workspaces(Settings settings) {
    WorkspaceConfig config = settings.workspace();
    return new Workspaces(
        settings.runtimes().stream()
            .collect(
                Collectors.toMap(
                    RuntimeSettings::name, runtime -> runtime.toCommand(System::getenv))),
        config.cacheFolder(),
        gitEnvironment(),
        config.gitTimeout(),
        Math.toIntExact(config.patchSize()));
  }

  /** Returns when a signal arrives. */
  void serve(Settings settings, Signals signals) throws InterruptedException {
    ServerOptions.Statsd statsd = settings.metrics().target();
    if (statsd == null) {
      awaitEnd(signals);
      return;
    }
    try (ServerMetrics metrics = new ServerMetrics(statsd)) {
      metrics.addWorker(metrics());
      awaitEnd(signals);
    }
  }

  private void awaitEnd(Signals signals) throws InterruptedException {
    Terminal.println("ready: " + description);
    signals.await();
  }

  Metrics metrics() {
    return worker.metrics();
  }

  String name() {
    return worker.name();
  }

  int concurrency() {
    return concurrency;
  }

  List<JobId> running() {
    return worker.running();
  }

  /** A handler that does not stop although its attempt has ended; null when there is none. */
  @Nullable String problem() {
    List<OverdueHandler> overdue = worker.overdue();
    if (overdue.isEmpty()) {
      return null;
    }
    OverdueHandler longest = overdue.getFirst();
    return "a handler of kind '%s' (job %s) still runs %d s after its attempt ended%s"
        .formatted(
            longest.kind(),
            longest.lease(),
            longest.since().toSeconds(),
            overdue.size() == 1 ? "" : ", and " + (overdue.size() - 1) + " more");
  }

  void pause() {
    worker.pause();
  }

  void resume() {
    worker.resume();
  }

  String describe() {
    return description;
  }

  @Override
  public void close() {
    worker.close();
  }
}
