package dev.holdfast.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A supervisor of real processes, and the database to which it reports their health. */
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
abstract class SupervisorFixture {
  static final String NAME = "here";
  static final String TAG = "worker:tag:0";
  static final Duration LONG = Duration.ofMinutes(10);

  /** The restart count is reset after ten minutes, and backoffs are very short. */
  static final RestartPolicy QUICK =
      new RestartPolicy(3, LONG, 20, LONG, Duration.ofMillis(10), Duration.ofMillis(40));

  /** Of the acting workers: a process opens all jars of its path, and most are for the tests. */
  static final Pattern NEEDED =
      Pattern.compile(
          "/(holdfast-(model|queue)|postgresql|jackson-[a-z]+|slf4j-api|jspecify)-[^/]*\\.jar");

  static final String CLASS_PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .filter(part -> !part.endsWith(".jar") || NEEDED.matcher(part).find())
          .collect(Collectors.joining(File.pathSeparator));

  @TempDir Path folder;

  TestDatabase db;
  JobStore store;
  WorkerRegistry health;
  final List<Supervisor> supervisors = new ArrayList<>();

  Duration boot = LONG;
  Duration silence = LONG;
  Duration stop = LONG;
  Duration terminate = Duration.ofMillis(200);
  Duration recycle = LONG;
  LongSupplier nanos = System::nanoTime;
  RestartPolicy policy = QUICK;

  @BeforeEach
  void open(TestDatabase database) {
    db = database;
    store = new JobStore(db.dataSource(), new ActingWorker.NoCodec(), JobStore.Options.DEFAULT);
    health = store.workers();
    db.sql(onlyAllowed());
  }

  /** Stops any statement that makes a transition which is not in {@link HealthStatus#next}. */
  static String onlyAllowed() {
    String allowed =
        Arrays.stream(HealthStatus.values())
            .flatMap(
                from -> from.next().stream().map(to -> "'" + from.text() + ">" + to.text() + "'"))
            .collect(Collectors.joining(", "));
    return """
    CREATE FUNCTION public.watch_health() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF new.status <> old.status AND old.status || '>' || new.status NOT IN (ALLOWED) THEN
        RAISE EXCEPTION '% became %', old.status, new.status;
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER watch_health AFTER UPDATE ON holdfast.health
      FOR EACH ROW EXECUTE FUNCTION public.watch_health();
    """
        .replace("ALLOWED", allowed);
  }

  @AfterEach
  void close() {
    supervisors.forEach(Supervisor::close);
    store.close();
  }

  Supervisor supervise(String name, String... parts) {
    List<WorkerCommandLine> commands = new ArrayList<>();
    for (int i = 0; i < parts.length; i++) {
      commands.add(
          new WorkerCommandLine(
              WorkerHealth.component("tag", i),
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx32m",
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-XX:CompileThresholdScaling=5",
                  "-Djava.locale.providers=SPI",
                  "-Dslf4j.internal.verbosity=ERROR",
                  "-XX:+ExitOnOutOfMemoryError",
                  "-cp",
                  CLASS_PATH,
                  ActingWorker.class.getName()),
              Map.of(ActingWorker.PART, parts[i], ActingWorker.URL, url())));
    }
    return supervise(name, commands);
  }

  Supervisor supervise(String name, List<WorkerCommandLine> commands) {
    Supervisor supervisor =
        Supervisor.start(
            health,
            new SupervisorOptions(
                name,
                boot,
                silence,
                Duration.ofMillis(50),
                stop,
                terminate,
                recycle,
                policy,
                folder,
                folder.resolve("logs"),
                1 << 20),
            commands,
            new Supervisor.Output(line -> {}, (before, lines) -> lines.replace("plays", "***")),
            nanos);
    supervisors.add(supervisor);
    return supervisor;
  }

  String url() {
    return db.url()
        + (db.url().contains("?") ? "&" : "?")
        + "user="
        + db.user()
        + "&password="
        + db.password();
  }

  WorkerHealth row() {
    return health.readings().of(NAME).stream()
        .filter(row -> row.component().equals(TAG))
        .findFirst()
        .orElseThrow();
  }

  WorkerHealth until(Predicate<WorkerHealth> condition) {
    return Eventually.await().ignoreExceptions().until(this::row, condition);
  }

  WorkerHealth untilHealthy(int incarnation) {
    return until(row -> row.status() == HealthStatus.HEALTHY && row.incarnation() == incarnation);
  }

  static void until(Callable<Boolean> condition) {
    Eventually.until(condition);
  }

  static void signal(String signal, long pid) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("/bin/kill", "-" + signal, Long.toString(pid))
                .inheritIO()
                .start()
                .waitFor())
        .isZero();
  }

  static long pid(WorkerHealth row) {
    return Objects.requireNonNull(row.pid());
  }

  /** What the page shows of the worker's output. */
  String tail() {
    return health.logs().read(new WorkerLogs.Name(NAME, TAG), LogCursor.START).parts().stream()
        .map(LogTail.Part::text)
        .collect(Collectors.joining());
  }

  String log() throws IOException {
    return Files.readString(WorkerLog.file(folder.resolve("logs"), TAG));
  }

  JobId add() {
    return store.jobs().enqueue(Job.of("work").queue("tag")).id();
  }

  JobState state(JobId job) {
    return store.queries().find(job).orElseThrow().state();
  }

  void order(WorkerCommand.Action action) {
    assertThat(health.commands().add(TAG, null, action, "ada", "to see")).hasSize(1);
  }
}
