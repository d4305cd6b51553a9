package dev.holdfast.app.config;

import dev.holdfast.app.config.file.ProgramSettings;
import dev.holdfast.app.config.file.QueueSettings;
import dev.holdfast.app.config.file.RuntimeSettings;
import dev.holdfast.app.config.file.SettingsFile;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ShownSetting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What this process is configured with, as one record for each concern. A value comes from an
 * option, else from the environment, else from the file, else it is the default.
 *
 * <p>An unknown setting ends the start. A wrong value does so when its record is made; nothing is
 * repaired silently.
 */
public final class Settings {
  private static final Concern<DatabaseConfig> DATABASE = Concern.of(DatabaseConfig.class);
  private static final Concern<StorageConfig> STORAGE = Concern.of(StorageConfig.class);
  private static final Concern<WorkerConfig> WORKER = Concern.of(WorkerConfig.class);
  private static final Concern<TimingsConfig> TIMINGS = Concern.of(TimingsConfig.class);
  private static final Concern<BackpressureConfig> BACKPRESSURE =
      Concern.of(BackpressureConfig.class);
  private static final Concern<RetriesConfig> RETRIES = Concern.of(RetriesConfig.class);
  private static final Concern<StepsConfig> STEPS = Concern.of(StepsConfig.class);
  private static final Concern<WorkspaceConfig> WORKSPACE = Concern.of(WorkspaceConfig.class);
  private static final Concern<RetentionConfig> RETENTION = Concern.of(RetentionConfig.class);
  private static final Concern<SupervisorConfig> SUPERVISOR = Concern.of(SupervisorConfig.class);
  private static final Concern<ServerConfig> SERVER = Concern.of(ServerConfig.class);
  private static final Concern<TasksConfig> TASKS = Concern.of(TasksConfig.class);
  private static final Concern<DispatchConfig> DISPATCH = Concern.of(DispatchConfig.class);
  private static final Concern<NotifyConfig> NOTIFY = Concern.of(NotifyConfig.class);
  private static final Concern<MetricsConfig> METRICS = Concern.of(MetricsConfig.class);
  private static final Concern<ClientConfig> CLIENT = Concern.of(ClientConfig.class);
  private static final Concern<LogConfig> LOG = Concern.of(LogConfig.class);

  /** In the order of the documents. */
  public static final List<Concern<?>> CONCERNS =
      List.of(
          DATABASE,
          STORAGE,
          WORKER,
          TIMINGS,
          BACKPRESSURE,
          RETRIES,
          STEPS,
          WORKSPACE,
          RETENTION,
          SUPERVISOR,
          SERVER,
          TASKS,
          DISPATCH,
          NOTIFY,
          METRICS,
          CLIENT,
          LOG);

  private final SettingValues values;
  private final SettingsFile content;
  private final @Nullable Path file;

  private Settings(SettingValues values, SettingsFile content, @Nullable Path file) {
    this.values = values;
    this.content = content;
    this.file = file;
  }

  public static Settings load(
      Map<String, String> options, Map<String, String> environment, @Nullable Path file) {
    KnownSettings known = new KnownSettings(all().toList());
    SettingValues values = SettingValues.defaults(all().toList());
    SettingsFile content = file == null ? SettingsFile.NONE : SettingsFile.read(file);
    content
        .values()
        .forEach((key, text) -> known.putFromFile(values, key, text, String.valueOf(file)));
    environment.forEach((name, text) -> known.putFromEnvironment(values, name, text));
    options.forEach(values::putFromOption);
    TimingsConfig.applyPreset(values);
    return new Settings(values, content, file);
  }

  public static Stream<Setting> all() {
    return CONCERNS.stream().flatMap(concern -> concern.settings().stream());
  }

  /** These settings, except that one has the value of another. */
  public Settings with(String key, String like) {
    return new Settings(values.with(key, like), content, file);
  }

  // ---- one record for each concern

  public DatabaseConfig database() {
    return DATABASE.read(values);
  }

  public StorageConfig storage() {
    return STORAGE.read(values);
  }

  public WorkerConfig worker() {
    return WORKER.read(values);
  }

  public Timings timings() {
    return TIMINGS.read(values).timings();
  }

  public BackpressureConfig backpressure() {
    return BACKPRESSURE.read(values);
  }

  /** For jobs that this process enqueues or settles. */
  public RetryDefaults retries() {
    return RETRIES.read(values).with(content.retriesOfKinds(), content.retriesOfQueues());
  }

  public StepsConfig steps() {
    return STEPS.read(values);
  }

  /** Knows the secrets among the settings, and those that runtimes are given. */
  public Scrubber scrubber() {
    List<String> secrets = new ArrayList<>();
    runtimes().forEach(runtime -> secrets.addAll(runtime.secretValues(System::getenv)));
    all()
        .filter(setting -> setting.isSecret() && values.isGiven(setting.key()))
        .forEach(setting -> secrets.add(values.value(setting.key()).text()));
    return Scrubber.knowing(secrets);
  }

  public WorkspaceConfig workspace() {
    return WORKSPACE.read(values);
  }

  public RetentionConfig retention() {
    return RETENTION.read(values);
  }

  public SupervisorConfig supervisor() {
    return SUPERVISOR.read(values);
  }

  public MetricsConfig metrics() {
    return METRICS.read(values);
  }

  public ClientConfig client() {
    return CLIENT.read(values);
  }

  public LogConfig log() {
    return LOG.read(values);
  }

  public ServerOptions server() {
    ServerConfig server = SERVER.read(values);
    TasksConfig tasks = TASKS.read(values);
    DispatchConfig dispatch = DISPATCH.read(values);
    return ServerOptions.DEFAULT
        .host(server.host())
        .port(server.port())
        .publicUrl(server.publicUrl())
        .allowedHosts(server.allowedHosts())
        .tls(server.tls())
        .requestsPerSecond(server.requestsPerSecond())
        .timings(tasks.timings())
        .tokens(tasks.tokens())
        .dispatchTo(dispatch.allow())
        .dispatchTimeout(dispatch.timeout())
        .artifacts(storage().artifactsFolder())
        .statsd(metrics().target())
        .notices(NOTIFY.read(values).receiver())
        .settings(shown());
  }

  /** Throws when a worker could not start with these settings. */
  public void checkWorker() {
    var unused =
        List.of(worker(), timings(), backpressure(), storage(), steps(), workspace(), retention());
  }

  // ---- tables of the file

  /** The programs that holdfast.yaml names as handlers. */
  public List<ProgramSettings> programs() {
    return content.programs();
  }

  /** The commands that holdfast.yaml names as runtimes of steps. */
  public List<RuntimeSettings> runtimes() {
    return content.runtimes();
  }

  /** What a supervisor runs for each queue that holdfast.yaml describes. */
  public List<QueueSettings> queues() {
    return content.queues();
  }

  // ---- single values

  /** For a command that needs one value and must not fail over the rest of its record. */
  public <T> T get(String key, Class<T> type) {
    return type.cast(values.get(key));
  }

  /** The declaration of the setting with this key. */
  static Setting setting(String key) {
    return all()
        .filter(setting -> setting.key().equals(key))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no setting " + key));
  }

  /** The variable of a setting. */
  public static String variable(String key) {
    return setting(key).variable();
  }

  /** The queues that a worker serves. */
  public List<String> servedQueues() {
    return ((List<?>) values.get("worker.queues")).stream().map(String.class::cast).toList();
  }

  public boolean isGiven(String key) {
    return values.isGiven(key);
  }

  /** Whether no value was given. */
  public boolean isDefault(String key) {
    return values.isDefault(key);
  }

  /** Whether the value is from the command line. */
  public boolean isOption(String key) {
    return values.isOption(key);
  }

  /** The text of a setting and its origin. */
  SettingValues.Value value(String key) {
    return values.value(key);
  }

  /** Everything that would keep a process from starting; empty when all is well. */
  public List<String> problems() {
    return values.problems(CONCERNS);
  }

  /** The options of the command line, as variables for another process. */
  public Map<String, String> optionsAsVariables() {
    Map<String, String> variables = new HashMap<>();
    if (file != null) {
      variables.put(KnownSettings.FILE_VARIABLE, file.toAbsolutePath().toString());
    }
    values.forEachOption((setting, text) -> variables.put(setting.variable(), text));
    return variables;
  }

  /** All settings, for people to see: without secrets, also those in commands. */
  public List<ShownSetting> shown() {
    Scrubber scrubber = Scrubber.knowing(List.of());
    List<ShownSetting> shown = new ArrayList<>();
    all()
        .forEach(
            setting ->
                shown.add(
                    new ShownSetting(
                        setting.key(),
                        setting.variable(),
                        scrubber.scrub(values.shown(setting.key())),
                        values.value(setting.key()).origin(),
                        setting.description())));
    for (ProgramSettings program : programs()) {
      String command = scrubber.scrub(String.join(" ", program.command()));
      shown.add(
          new ShownSetting(
              "handlers." + program.kind(), "", command, "" + file, "program that runs the kind"));
    }
    for (RuntimeSettings runtime : runtimes()) {
      String command = scrubber.scrub(String.join(" ", runtime.command()));
      shown.add(
          new ShownSetting(
              "runtimes." + runtime.name(), "", command, "" + file, "program that runs steps"));
    }
    return shown;
  }
}
