package dev.holdfast.supervisor;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Real processes, watched and started again: they crash, hang, fill their memory, do not listen.
 */
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
class SupervisorTest {
  private static final String NAME = "here";
  private static final String TAG = "worker:tag:0";
  private static final Duration LONG = Duration.ofMinutes(10);

  /** Crashes are forgiven after ten minutes, and waits are of no length to speak of. */
  private static final RestartPolicy QUICK =
      new RestartPolicy(3, LONG, 20, LONG, Duration.ofMillis(10), Duration.ofMillis(40));

  /** Of the acting workers: a process opens all jars of its path, and most are for the tests. */
  private static final Pattern NEEDED =
      Pattern.compile(
          "/(holdfast-(model|queue)|postgresql|jackson-[a-z]+|slf4j-api|jspecify)-[^/]*\\.jar");

  private static final String CLASS_PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .filter(part -> !part.endsWith(".jar") || NEEDED.matcher(part).find())
          .collect(Collectors.joining(File.pathSeparator));

  @TempDir Path folder;

  private TestDatabase db;
  private Queue queue;
  private WorkerRegistry health;
  private final List<Supervisor> supervisors = new ArrayList<>();

  private Duration boot = LONG;
  private Duration silence = LONG;
  private Duration stop = LONG;
  private Duration recycle = LONG;
  private LongSupplier nanos = System::nanoTime;
  private RestartPolicy policy = QUICK;

  @BeforeEach
  void open(TestDatabase database) {
    db = database;
    queue = new Queue(db.dataSource(), new ActingWorker.NoCodec(), Queue.Options.DEFAULT);
    health = queue.workers();
    db.sql(onlyAllowed());
  }

  /** Stops any statement that makes a transition which is not in {@link HealthStatus#next}. */
  private static String onlyAllowed() {
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
    queue.close();
  }

  private Supervisor supervise(String name, String... parts) {
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
    Supervisor supervisor =
        Supervisor.start(
            health,
            new SupervisorOptions(
                name,
                boot,
                silence,
                Duration.ofMillis(50),
                stop,
                Duration.ofMillis(200),
                recycle,
                policy,
                folder,
                folder.resolve("logs"),
                1 << 20),
            commands,
            line -> {},
            nanos);
    supervisors.add(supervisor);
    return supervisor;
  }

  private String url() {
    return db.url()
        + (db.url().contains("?") ? "&" : "?")
        + "user="
        + db.user()
        + "&password="
        + db.password();
  }

  private WorkerHealth row() {
    return health.readings().of(NAME).stream()
        .filter(row -> row.component().equals(TAG))
        .findFirst()
        .orElseThrow();
  }

  private WorkerHealth until(Predicate<WorkerHealth> condition) {
    return await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .until(this::row, condition);
  }

  private WorkerHealth untilHealthy(int incarnation) {
    return until(row -> row.status() == HealthStatus.HEALTHY && row.incarnation() == incarnation);
  }

  private static void until(Callable<Boolean> condition) {
    await().atMost(SOON).pollInterval(Duration.ofMillis(20)).until(condition);
  }

  private static void signal(String signal, long pid) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("/bin/kill", "-" + signal, Long.toString(pid))
                .inheritIO()
                .start()
                .waitFor())
        .isZero();
  }

  private static long pid(WorkerHealth row) {
    return Objects.requireNonNull(row.pid());
  }

  private String log() throws IOException {
    return Files.readString(WorkerLog.file(folder.resolve("logs"), TAG));
  }

  private JobId add() {
    return queue.jobs().enqueue(Job.of("work").queue("tag")).id();
  }

  private JobState state(JobId job) {
    return queue.queries().find(job).orElseThrow().state();
  }

  private void order(WorkerCommand.Action action) {
    assertThat(health.commands().add(TAG, null, action, "ada", "to see")).hasSize(1);
  }

  @Test
  void a_worker_becomes_healthy_and_at_the_end_nothing_is_left() throws Exception {
    Supervisor supervisor = supervise(NAME, "good", "good");
    assertThat(supervisor.awaitHealthy(SOON)).isTrue();
    assertThat(health.readings().of(NAME))
        .extracting(WorkerHealth::component)
        .containsExactly(TAG, "worker:tag:1");
    long pid = pid(row());
    assertThat(row().restarts()).isZero();
    assertThat(row().processStartedAt()).isNotNull();
    supervisor.close();
    assertThat(Living.is(pid)).isFalse();
    assertThat(health.readings().of(NAME)).isEmpty();
    assertThat(health.supervisors().find(NAME)).isEmpty();
    assertThat(log()).contains("plays good", "healthy", "heard stop", "--- ended: 0 (clean)");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(WorkerLog.file(folder.resolve("logs"), TAG))))
        .isEqualTo("rw-------");
  }

  @Test
  void a_killed_one_gives_its_job_back_at_once_and_is_started_again_in_its_place()
      throws Exception {
    JobId job = add();
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    assertThat(state(job)).isEqualTo(JobState.RUNNING);
    signal("KILL", pid(first));
    WorkerHealth second = untilHealthy(2);
    assertThat(second.restarts()).isEqualTo(1);
    assertThat(second.lastRestart()).isNotNull();
    assertThat(second.exitCode()).isEqualTo(137);
    assertThat(pid(second)).isNotEqualTo(pid(first));
    // The lease was good for another five minutes.
    until(() -> queue.queries().attempts(job).size() == 2);
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(health.supervisors().recovered())
        .singleElement()
        .satisfies(
            counted -> {
              assertThat(counted.by().name()).isEqualTo(NAME);
              assertThat(counted.requeued()).isEqualTo(1);
              assertThat(counted.ended()).isZero();
            });
  }

  @Test
  void one_that_ends_with_an_exit_code_is_named_and_given_up_after_its_restarts() throws Exception {
    supervise(NAME, "exit=9");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.restarts()).isEqualTo(3);
    assertThat(failed.incarnation()).isEqualTo(4);
    assertThat(failed.exitCode()).isEqualTo(WorkerExit.HANDLERS);
    assertThat(failed.reason()).contains("9 (handlers)", "3 restarts within 10 minutes");
    assertThat(failed.pid()).isNull();
    assertThat(failed.nextRestart()).isNull();
    // A pause and a resume do not talk it down: it may try once, and has failed again.
    order(WorkerCommand.Action.PAUSE);
    order(WorkerCommand.Action.RESUME);
    WorkerHealth again =
        until(row -> row.status() == HealthStatus.FAILED && row.incarnation() == 5);
    assertThat(again.restarts()).isEqualTo(3);
  }

  @Test
  void each_restart_waits_twice_as_long_by_the_supervisors_own_clock() {
    AtomicLong clock = new AtomicLong(System.nanoTime());
    nanos = clock::get;
    boot = Duration.ofDays(100);
    silence = Duration.ofDays(100);
    policy =
        new RestartPolicy(
            100, Duration.ofDays(1), 100, LONG, Duration.ofHours(1), Duration.ofHours(3));
    supervise(NAME, "exit=1");
    int incarnation = 1;
    for (int hours : new int[] {1, 2, 3, 3}) {
      int now = incarnation++;
      WorkerHealth crashed =
          until(row -> row.status() == HealthStatus.CRASHED && row.incarnation() == now);
      assertThat(Duration.between(crashed.readAt(), crashed.nextRestart()))
          .isBetween(Duration.ofHours(hours).minusMinutes(5), Duration.ofHours(hours));
      clock.addAndGet(Duration.ofHours(hours).toNanos() - 1);
      await()
          .during(Duration.ofMillis(300))
          .atMost(SOON)
          .until(() -> row().status() == HealthStatus.CRASHED && row().incarnation() == now);
      // It goes on, slowly: what could not be written at once is tried again by this clock, too.
      until(
          row -> {
            clock.addAndGet(Duration.ofMillis(20).toNanos());
            return row.incarnation() == now + 1;
          });
    }
  }

  @Test
  void a_worker_that_keeps_crashing_does_not_hurt_another() {
    JobId job = add();
    supervise(NAME, "exit=1", "good");
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(
            health.readings().of(NAME).stream()
                .filter(row -> row.component().equals("worker:tag:1"))
                .findFirst()
                .orElseThrow()
                .restarts())
        .isZero();
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isLessThanOrEqualTo(3);
  }

  @Test
  void the_third_crash_makes_its_job_toxic_and_no_earlier_one() {
    JobId job = add();
    supervise(NAME, "exit=1");
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(Objects.requireNonNull(queue.queries().find(job).orElseThrow().failure()).code())
        .isEqualTo("TOXIC_JOB");
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(3);
  }

  @Test
  void a_full_heap_ends_the_process_and_has_a_name() throws Exception {
    supervise(NAME, "memory");
    WorkerHealth crashed = until(row -> row.exitCode() != null);
    assertThat(crashed.exitCode()).isEqualTo(WorkerExit.OUT_OF_MEMORY);
    assertThat(log()).contains("OutOfMemoryError", "3 (out of memory)");
  }

  @Test
  void one_that_never_becomes_healthy_is_caught_by_its_boot_deadline() {
    boot = Duration.ofMillis(300);
    supervise(NAME, "hang");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("not healthy 0.3 s after its start");
    assertThat(failed.exitCode()).isEqualTo(137);
  }

  @Test
  void one_whose_handler_goes_on_is_started_anew_and_that_is_no_crash() throws Exception {
    recycle = Duration.ofMillis(100);
    supervise(NAME, "overdue");
    WorkerHealth second = until(row -> row.incarnation() == 2);
    assertThat(second.restarts()).isZero();
    assertThat(log()).contains("heard stop", "--- ended: 0 (clean)");
  }

  @Test
  void one_whose_handler_goes_on_is_left_alone_for_a_while() {
    supervise(NAME, "overdue");
    WorkerHealth row = until(healthy -> healthy.reason() != null);
    assertThat(row.status()).isEqualTo(HealthStatus.HEALTHY);
    assertThat(row.reason()).isEqualTo("a handler goes on");
    assertThat(row.incarnation()).isEqualTo(1);
  }

  @Test
  void one_that_is_silent_counts_as_crashed_and_is_killed() throws Exception {
    JobId job = add();
    silence = Duration.ofSeconds(2);
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    signal("STOP", pid(first));
    until(row -> row.incarnation() == 2);
    assertThat(Living.is(pid(first))).isFalse();
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(log()).contains("it reported nothing for 2.0 s");
  }

  @Test
  void nobody_is_silent_while_the_database_keeps_its_supervisor_waiting() throws Exception {
    silence = Duration.ofSeconds(1);
    assertThat(supervise(NAME, "good").awaitHealthy(SOON)).isTrue();
    long pid = pid(row());
    Instant lastSeen;
    try (Connection holder = db.dataSource().getConnection()) {
      holder.setAutoCommit(false);
      try (Statement lock = holder.createStatement()) {
        lock.execute("LOCK TABLE holdfast.supervisor IN EXCLUSIVE MODE");
      }
      lastSeen = supervisorSeen();
      signal("STOP", pid);
      // Longer than silence may last.
      Thread.sleep(1_500);
      holder.commit();
    }
    until(() -> supervisorSeen().isAfter(lastSeen));
    // And it may take a worker as long again to find the database.
    Thread.sleep(1_500);
    signal("CONT", pid);
    Instant beat = row().lastSeen();
    assertThat(until(row -> row.lastSeen().isAfter(beat)).incarnation()).isEqualTo(1);
    assertThat(pid(row())).isEqualTo(pid);
  }

  private Instant supervisorSeen() {
    return health.supervisors().all().getFirst().lastSeen();
  }

  @Test
  void health_for_long_enough_wears_the_restarts_off() throws Exception {
    policy = new RestartPolicy(3, LONG, 20, Duration.ofMillis(500), Duration.ZERO, Duration.ZERO);
    supervise(NAME, "good");
    signal("KILL", pid(untilHealthy(1)));
    untilHealthy(2);
    until(row -> row.restarts() == 0 && row.incarnation() == 2);
  }

  @Test
  void a_pause_is_told_and_lasts_over_a_crash_until_it_is_resumed() throws Exception {
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    order(WorkerCommand.Action.PAUSE);
    until(WorkerHealth::pausedByOperator);
    until(() -> log().contains("heard pause"));
    assertThat(health.commands().open(NAME)).isEmpty();
    signal("KILL", pid(first));
    assertThat(untilHealthy(2).pausedByOperator()).isTrue();
    assertThat(log()).contains("plays good, paused");
    order(WorkerCommand.Action.RESUME);
    until(row -> !row.pausedByOperator());
    until(() -> log().contains("heard resume"));
    assertThat(row().restarts()).isEqualTo(1);
  }

  @Test
  void a_stop_ends_the_process_for_good_and_a_resume_starts_another() {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.STOP);
    WorkerHealth stopped = until(WorkerHealth::isStopped);
    assertThat(Living.is(pid)).isFalse();
    assertThat(stopped.reason()).isEqualTo("stopped by ada: to see");
    assertThat(stopped.exitCode()).isZero();
    order(WorkerCommand.Action.RESUME);
    assertThat(untilHealthy(2).restarts()).isZero();
  }

  @Test
  void one_that_does_not_hear_that_it_is_to_end_is_shown_as_stopping_and_why() throws Exception {
    supervise(NAME, "deaf");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.STOP);
    WorkerHealth stopping = until(row -> row.status() == HealthStatus.STOPPING);
    assertThat(stopping.pid()).isEqualTo(pid);
    assertThat(stopping.isStopped()).isFalse();
    assertThat(stopping.reason()).isEqualTo("stopped by ada: to see");
    signal("KILL", pid);
    until(WorkerHealth::isStopped);
  }

  @Test
  void one_that_is_started_anew_is_never_shown_as_stopped() {
    supervise(NAME, "good");
    untilHealthy(1);
    // All that its row says on the way.
    db.sql(
        """
        CREATE TABLE public.said AS TABLE holdfast.health WITH NO DATA;
        CREATE FUNCTION public.note_health() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.said SELECT new.*;
          RETURN NULL;
        END $$;
        CREATE TRIGGER note_health AFTER UPDATE ON holdfast.health
          FOR EACH ROW EXECUTE FUNCTION public.note_health();
        """);
    order(WorkerCommand.Action.RESTART);
    untilHealthy(2);
    String ended = "SELECT count(*) FROM public.said WHERE status = 'stopping' AND pid IS NULL";
    assertThat(db.count(ended)).isEqualTo(1);
    assertThat(db.count(ended + " AND next_restart IS NULL")).isZero();
  }

  @Test
  void a_restart_replaces_the_process_and_counts_as_none() {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.RESTART);
    assertThat(untilHealthy(2).restarts()).isZero();
    assertThat(Living.is(pid)).isFalse();
  }

  @Test
  void one_that_does_not_listen_is_terminated_or_killed() throws Exception {
    stop = Duration.ofMillis(100);
    Supervisor supervisor = supervise(NAME, "deaf");
    long pid = pid(untilHealthy(1));
    signal("STOP", pid);
    supervisor.close();
    assertThat(Living.is(pid)).isFalse();
    assertThat(log()).contains("--- ended: 137 (SIGKILL)");
  }

  @Test
  void one_that_was_told_to_end_by_somebody_else_stays_away() {
    supervise(NAME, "leaves");
    WorkerHealth gone = until(WorkerHealth::isStopped);
    assertThat(gone.exitCode()).isZero();
    assertThat(gone.restarts()).isZero();
    assertThat(gone.reason()).contains("not by its supervisor");
  }

  @Test
  void one_that_ends_well_without_having_been_told_to_has_crashed() {
    supervise(NAME, "exit=0");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("0 (clean)");
  }

  @Test
  void orders_outlast_the_supervisor() throws Exception {
    Supervisor supervisor = supervise(NAME, "good", "good");
    untilHealthy(1);
    order(WorkerCommand.Action.PAUSE);
    assertThat(
            health.commands().add("worker:tag:1", null, WorkerCommand.Action.STOP, "ada", "to see"))
        .hasSize(1);
    until(() -> health.commands().open(NAME).isEmpty());
    supervisor.close();
    Supervisor next = supervise(NAME, "good", "good");
    assertThat(untilHealthy(1).pausedByOperator()).isTrue();
    assertThat(next.awaitHealthy(SOON)).isTrue();
    assertThat(next.standing())
        .isEqualTo(new Supervisor.Standing(List.of("worker:tag:1"), List.of()));
    WorkerHealth other =
        health.readings().of(NAME).stream()
            .filter(row -> row.component().equals("worker:tag:1"))
            .findFirst()
            .orElseThrow();
    assertThat(other.isStopped()).isTrue();
  }

  @Test
  void two_of_one_name_are_refused_and_two_of_different_names_leave_each_other_alone()
      throws Exception {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    assertThatThrownBy(() -> supervise(NAME, "good"))
        .isInstanceOf(SupervisorRunsException.class)
        .hasMessageContaining("HOLDFAST_SUPERVISOR_NAME")
        .hasMessageContaining("pid " + ProcessHandle.current().pid());
    Supervisor other = supervise("there", "good");
    assertThat(other.awaitHealthy(SOON)).isTrue();
    assertThat(health.readings().all())
        .extracting(WorkerHealth::component)
        .containsExactly(TAG, TAG);
    other.close();
    assertThat(pid(row())).isEqualTo(pid);
    assertThat(row().status()).isEqualTo(HealthStatus.HEALTHY);
  }

  @Test
  void a_claim_that_comes_after_its_process_is_gone_does_not_hold_its_jobs() throws Exception {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    signal("KILL", pid);
    long next = pid(untilHealthy(2));
    JobId late = add();
    JobId rightful = add();
    // As the server carries out what the killed process had sent.
    queue.jobs().claim("tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), pid) + "x", LONG);
    queue.jobs().claim("tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), next) + "x", LONG);
    until(() -> queue.queries().find(late).orElseThrow().crashes() == 1);
    assertThat(state(late)).isEqualTo(JobState.PENDING);
    assertThat(state(rightful)).isEqualTo(JobState.RUNNING);
  }

  @Test
  void what_a_dead_supervisor_left_is_ended_and_its_jobs_go_back() throws Exception {
    JobId job = add();
    Process left = new ProcessBuilder("/bin/sleep", "600").redirectErrorStream(true).start();
    try {
      Supervisors.Supervising dead =
          new Supervisors.Supervising(NAME, Machine.name(), Long.MAX_VALUE, Instant.EPOCH);
      assertThat(health.supervisors().appear(dead)).isTrue();
      WorkerProcesses.Place place = new WorkerProcesses.Place(NAME, TAG, 7);
      health.processes().starting(place, 2, false);
      health.processes().spawned(place, left.pid(), left.info().startInstant().orElseThrow());
      // A pid that is in use again, by somebody else.
      WorkerProcesses.Place reused = new WorkerProcesses.Place(NAME, "worker:tag:1", 1);
      health.processes().starting(reused, 0, false);
      health.processes().spawned(reused, ProcessHandle.current().pid(), Instant.EPOCH);
      queue
          .jobs()
          .claim("tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), left.pid()) + "x", LONG);
      stop = Duration.ofMillis(50);
      supervise(NAME, "good");
      assertThat(left.waitFor(1, TimeUnit.MINUTES)).isTrue();
      WorkerHealth row = untilHealthy(8);
      assertThat(row.restarts()).isZero();
      assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
      assertThat(Companion.isAlive(left.pid(), Instant.EPOCH)).isFalse();
    } finally {
      left.destroyForcibly();
    }
  }

  @Test
  void one_whose_name_was_taken_stops_its_workers() throws Exception {
    Supervisor supervisor = supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    Supervisors.Supervising self = health.supervisors().find(NAME).orElseThrow().supervising();
    assertThat(
            health
                .supervisors()
                .replace(self, new Supervisors.Supervising(NAME, "elsewhere", 1, Instant.EPOCH)))
        .isTrue();
    until(supervisor::isReplaced);
    assertThat(Living.is(pid)).isFalse();
    assertThat(health.supervisors().find(NAME)).isPresent();
  }
}
