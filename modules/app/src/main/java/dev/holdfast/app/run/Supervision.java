package dev.holdfast.app.run;

import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.QueueSettings;
import dev.holdfast.app.config.Setting;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import dev.holdfast.supervisor.RestartPolicy;
import dev.holdfast.supervisor.Supervisor;
import dev.holdfast.supervisor.SupervisorOptions;
import dev.holdfast.supervisor.WorkerCommandLine;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Worker processes as the settings want them, each with this same program and its settings. */
public final class Supervision {
  private static final int MEGABYTE = 1 << 20;

  /** One for each value, or for those that belong together: so all that is wrong can be told. */
  public static final List<Consumer<Settings>> CHECKS =
      List.of(
          Supervision::health,
          Supervision::served,
          settings -> settings.secondsWithin(Setting.BOOT_TIMEOUT_SEC, 0.01),
          settings -> settings.secondsWithin(Setting.STOP_TIMEOUT_SEC, 0),
          settings -> settings.secondsWithin(Setting.OVERDUE_HANDLER_SEC, 0),
          settings -> settings.secondsWithin(Setting.RESTART_DELAY_SEC, 0),
          settings -> settings.secondsWithin(Setting.RESTART_DELAY_MAX_SEC, 0),
          settings -> settings.secondsWithin(Setting.RESTART_WINDOW_SEC, 0),
          settings -> settings.secondsWithin(Setting.RESTART_FORGIVEN_SEC, 0),
          settings -> settings.within(Setting.RESTART_LIMIT, 0, 1_000_000),
          settings -> settings.within(Setting.RESTART_LIFETIME_LIMIT, 0, 1_000_000),
          settings -> settings.within(Setting.LOG_MEGABYTES, 1, 1_000_000));

  private Supervision() {}

  /** What is to run for a queue. */
  public record Served(String queue, int processes, int concurrency) {}

  /** The queues that holdfast.yaml describes; without any, those that a worker would serve. */
  public static List<Served> served(Settings settings) {
    int processes = settings.within(Setting.WORKER_PROCESSES, 0, QueueSettings.MOST_PROCESSES);
    int concurrency = settings.whole(Setting.MAX_CONCURRENCY);
    Map<String, Served> served = new LinkedHashMap<>();
    boolean chosen =
        settings.queues().isEmpty() || !settings.value(Setting.QUEUES).origin().equals("default");
    if (chosen) {
      settings
          .list(Setting.QUEUES)
          .forEach(queue -> served.put(queue, new Served(queue, processes, concurrency)));
    }
    for (QueueSettings queue : settings.queues()) {
      if (settings.value(Setting.QUEUES).origin().equals("option")
          && !served.containsKey(queue.queue())) {
        continue;
      }
      served.put(
          queue.queue(),
          new Served(
              queue.queue(),
              queue.processes() == null ? processes : queue.processes(),
              queue.concurrency() == null ? concurrency : queue.concurrency()));
    }
    return List.copyOf(served.values());
  }

  public static String describe(Settings settings) {
    StringBuilder text = new StringBuilder();
    for (Served queue : served(settings)) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(queue.queue())
          .append(": ")
          .append(Plural.of(queue.processes(), "process", "processes"))
          .append(" of ")
          .append(queue.concurrency());
    }
    return text.toString();
  }

  /** Before anything starts. */
  static void check(Settings settings) {
    CHECKS.forEach(check -> check.accept(settings));
    someWorker(settings);
  }

  private static void health(Settings settings) {
    Duration interval = settings.secondsWithin(Setting.HEALTH_INTERVAL_SEC, 0.01);
    if (settings.secondsWithin(Setting.HEALTH_TIMEOUT_SEC, 0.01).compareTo(interval) <= 0) {
      throw settings.wrong(
          Setting.HEALTH_TIMEOUT_SEC,
          "more than "
              + Setting.HEALTH_INTERVAL_SEC.variable()
              + " ("
              + interval.toMillis() / 1000.0
              + ")");
    }
  }

  /** Apart from the others: a worker or a server starts all the same. */
  private static void someWorker(Settings settings) {
    if (served(settings).stream().allMatch(queue -> queue.processes() == 0)) {
      throw new CommandException(
          ExitCode.CONFIGURATION, "there is no worker to run: name queues in holdfast.yaml");
    }
  }

  /**
   * @param bundled kinds that each worker has besides its own
   */
  static Supervisor start(
      Settings settings,
      Access access,
      DatabaseUrl url,
      List<BundledKinds> bundled,
      Consumer<String> echo) {
    List<WorkerCommandLine> commands = new ArrayList<>();
    List<String> arguments = arguments(settings, bundled);
    for (Served queue : served(settings)) {
      Map<String, String> environment = environment(settings, url, queue);
      for (int number = 0; number < queue.processes(); number++) {
        commands.add(
            new WorkerCommandLine(
                WorkerHealth.component(queue.queue(), number), arguments, environment));
      }
    }
    return Supervisor.start(access.holdfast().queue().workers(), options(settings), commands, echo);
  }

  private static Map<String, String> environment(Settings settings, DatabaseUrl url, Served queue) {
    Map<String, String> environment = new HashMap<>(settings.optionsAsVariables());
    environment.put(Setting.DATABASE_URL.variable(), url.jdbc());
    environment.put(Setting.DATABASE_USER.variable(), url.user());
    environment.put(Setting.DATABASE_PASSWORD.variable(), url.password());
    environment.put(Setting.QUEUES.variable(), queue.queue());
    environment.put(Setting.MAX_CONCURRENCY.variable(), Integer.toString(queue.concurrency()));
    return environment;
  }

  private static List<String> arguments(Settings settings, List<BundledKinds> bundled) {
    List<String> arguments = new ArrayList<>();
    arguments.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(Supervision::isForWorkersToo)
        .forEach(arguments::add);
    arguments.add("-XX:+ExitOnOutOfMemoryError");
    Stream.of(settings.text(Setting.WORKER_JAVA_OPTIONS).strip().split("\\s+", -1))
        .filter(option -> !option.isEmpty())
        .forEach(arguments::add);
    arguments.addAll(
        List.of("-cp", System.getProperty("java.class.path"), SupervisedWorker.class.getName()));
    bundled.forEach(some -> arguments.add(some.option()));
    return arguments;
  }

  /** What Java itself was started with, apart from what would be written or opened twice. */
  private static boolean isForWorkersToo(String option) {
    return !option.contains("AutoCreateSharedArchive")
        && !option.contains("AOTCacheOutput")
        && !option.startsWith("-agent")
        && !option.startsWith("-javaagent")
        && !option.startsWith("-Dholdfast.terminal");
  }

  private static SupervisorOptions options(Settings settings) {
    String name = settings.text(Setting.SUPERVISOR).strip();
    return new SupervisorOptions(
        name.isEmpty() ? Machine.name() : name,
        settings.seconds(Setting.BOOT_TIMEOUT_SEC),
        settings.seconds(Setting.HEALTH_TIMEOUT_SEC),
        SupervisorOptions.LOOK,
        settings.seconds(Setting.STOP_TIMEOUT_SEC),
        SupervisorOptions.TERMINATE,
        settings.seconds(Setting.OVERDUE_HANDLER_SEC),
        new RestartPolicy(
            settings.whole(Setting.RESTART_LIMIT),
            settings.seconds(Setting.RESTART_WINDOW_SEC),
            settings.whole(Setting.RESTART_LIFETIME_LIMIT),
            settings.seconds(Setting.RESTART_FORGIVEN_SEC),
            settings.seconds(Setting.RESTART_DELAY_SEC),
            settings.seconds(Setting.RESTART_DELAY_MAX_SEC)),
        Path.of("").toAbsolutePath(),
        logs(settings),
        (long) settings.whole(Setting.LOG_MEGABYTES) * MEGABYTE);
  }

  public static Path logs(Settings settings) {
    return settings.folder(Setting.LOGS_FOLDER, "logs");
  }
}
