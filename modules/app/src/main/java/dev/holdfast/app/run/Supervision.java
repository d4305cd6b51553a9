package dev.holdfast.app.run;

import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.config.SupervisorConfig;
import dev.holdfast.app.config.WorkerConfig;
import dev.holdfast.app.config.file.QueueSettings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import dev.holdfast.supervisor.Supervisor;
import dev.holdfast.supervisor.SupervisorOptions;
import dev.holdfast.supervisor.WorkerCommandLine;
import dev.holdfast.worker.source.Metrics;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Starts a supervisor with the worker processes that the settings name; each runs this program. */
public final class Supervision {
  private Supervision() {}

  /** What a supervisor runs for a queue. */
  public record Served(String queue, int processes, int concurrency) {}

  /** The queues under 'queues' in holdfast.yaml; without any, those of worker.queues. */
  public static List<Served> served(Settings settings) {
    WorkerConfig worker = settings.worker();
    Map<String, Served> served = new LinkedHashMap<>();
    if (settings.queues().isEmpty() || !settings.isDefault("worker.queues")) {
      worker
          .queues()
          .forEach(
              queue ->
                  served.put(queue, new Served(queue, worker.processes(), worker.concurrency())));
    }
    for (QueueSettings queue : settings.queues()) {
      if (settings.isOption("worker.queues") && !served.containsKey(queue.queue())) {
        continue;
      }
      served.put(
          queue.queue(),
          new Served(
              queue.queue(),
              queue.processes() == null ? worker.processes() : queue.processes(),
              queue.concurrency() == null ? worker.concurrency() : queue.concurrency()));
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

  /** Throws when a supervisor could not start with these settings. */
  static void check(Settings settings) {
    var unused = settings.supervisor();
    if (served(settings).stream().allMatch(queue -> queue.processes() == 0)) {
      throw new CommandException(
          ExitCode.CONFIGURATION, "no worker to run: name queues in holdfast.yaml");
    }
  }

  /**
   * @param bundled kinds that each worker has in addition to its own
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
    return Supervisor.start(
        access.holdfast().store().workers(),
        options(settings.supervisor()),
        commands,
        new Supervisor.Output(echo, settings.scrubber()::scrubAfter));
  }

  /** By the names under which workers count the jobs that they recover. */
  static Map<String, Double> recovered(Supervisor supervisor) {
    Supervisor.Recovered jobs = supervisor.recovered();
    return Map.of(
        Metrics.RECOVERED + "{reason=\"crashed\"}", (double) jobs.requeued(),
        Metrics.RECOVERED + "{reason=\"ended\"}", (double) jobs.ended());
  }

  private static Map<String, String> environment(Settings settings, DatabaseUrl url, Served queue) {
    Map<String, String> environment = new HashMap<>(settings.optionsAsVariables());
    environment.put(Settings.variable("database.url"), url.jdbc());
    environment.put(Settings.variable("database.user"), url.user());
    environment.put(Settings.variable("database.password"), url.password());
    environment.put(Settings.variable("worker.queues"), queue.queue());
    environment.put(Settings.variable("worker.concurrency"), Integer.toString(queue.concurrency()));
    return environment;
  }

  private static List<String> arguments(Settings settings, List<BundledKinds> bundled) {
    List<String> arguments = new ArrayList<>();
    arguments.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(Supervision::isForWorkersToo)
        .forEach(arguments::add);
    arguments.add("-XX:+ExitOnOutOfMemoryError");
    arguments.addAll(settings.worker().optionsOfJava());
    arguments.addAll(
        List.of("-cp", System.getProperty("java.class.path"), SupervisedWorker.class.getName()));
    bundled.forEach(some -> arguments.add(some.option()));
    return arguments;
  }

  /** Whether workers get an option of this JVM: not those that write a file or open a port. */
  private static boolean isForWorkersToo(String option) {
    return !option.contains("AutoCreateSharedArchive")
        && !option.contains("AOTCacheOutput")
        && !option.startsWith("-agent")
        && !option.startsWith("-javaagent")
        && !option.startsWith("-Dholdfast.terminal");
  }

  private static SupervisorOptions options(SupervisorConfig config) {
    return new SupervisorOptions(
        config.name(),
        config.bootTimeout(),
        config.healthTimeout(),
        SupervisorOptions.LOOK,
        config.stopTimeout(),
        SupervisorOptions.TERMINATE,
        config.overdueHandlerTimeout(),
        config.restarts(),
        Path.of("").toAbsolutePath(),
        config.logsFolder(),
        config.logSize());
  }
}
