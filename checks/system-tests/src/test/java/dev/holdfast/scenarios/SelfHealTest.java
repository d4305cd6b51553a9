package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.workspace.WorkspaceJob;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Steps in worker processes: recovery from hangs, loops and kills of the worker. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class SelfHealTest {
  private static final Path EXAMPLE =
      Path.of("..", "..", "examples", "repository-task").toAbsolutePath().normalize();
  private static final long SEED = 20_261_115;
  private static final int JOBS = Extent.of(5, 20);
  private static final int AT_ONCE = Extent.of(5, 8);
  private static final int POINTS = Extent.of(8, 50);
  private static final Duration LONG = Duration.ofMinutes(10);

  private static String output(Path folder, String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return said;
  }

  @Test
  void the_example_recovers_from_a_hang_and_from_a_loop(World world) throws Exception {
    world
        .worker("--config", EXAMPLE.resolve("holdfast.yaml").toString())
        .env("HOLDFAST_FOLDER", "data")
        .env("STEP_IDLE_TIMEOUT_SECONDS", "20")
        .start();
    String payload =
        output(world.folder(), EXAMPLE.resolve("job.sh").toString(), world.folder() + "/greetings");
    JobId id = world.enqueue("workspace", new Json(payload));
    world.await(id, JobState.SUCCEEDED);
    List<String> types = world.timeline(id).types();
    assertThat(types)
        .containsSubsequence(
            EventType.STEP_FAILED,
            EventType.HEAL_TRIGGERED,
            EventType.STEP_FINISHED,
            EventType.HEAL_ESCALATED,
            EventType.STEP_FINISHED,
            EventType.STEP_FINISHED,
            EventType.DONE);
    assertThat(types).doesNotContain(EventType.HEAL_EXHAUSTED);
    assertThat(String.valueOf(world.status(id).result())).contains("greet.sh", "README.md");
    assertThat(world.folder().resolve("data/results/" + id + "/step-0001.patch"))
        .content()
        .contains("greet.sh");
    Launch.Answer steps = world.launch("jobs", "show", id.toString()).run();
    assertThat(steps.out()).anyMatch(line -> line.contains("task.self_heal.escalated"));
  }

  @Test
  @OnlyWithRelease
  void a_worker_process_sends_all_metrics_of_steps_to_statsd(World world) throws Exception {
    prepare(world);
    Files.writeString(
        world.folder().resolve("edit.sh"),
        """
        case $HOLDFAST_STEP_ID-$HOLDFAST_STEP_ATTEMPT in
          silent-1) while :; do sleep 0.1; done ;;
          endless-1) while :; do echo x; sleep 0.1; done ;;
          loops-[12]) echo the same; exit 1 ;;
          wrong-*) exit 64 ;;
        esac
        """);
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      world
          .worker()
          .env("HOLDFAST_FOLDER", "data")
          .env("HOLDFAST_METRICS_STATSD", "127.0.0.1:" + socket.getLocalPort())
          .start();
      JobId id =
          world.enqueue(
              WorkspaceJob.KIND,
              new WorkspaceJob(
                  "every kind of trouble",
                  new WorkspaceJob.Source(world.folder().resolve("repo").toString(), "main"),
                  Stream.of("silent", "endless", "loops", "wrong")
                      .map(name -> new WorkspaceJob.Task(name, null, null, "edit"))
                      .toList(),
                  null,
                  new WorkspaceJob.Spending(null, 30.0, 20.0, null, null).given()));
      String heal = "task.self_heal.";
      Map<String, Double> expected =
          Map.of(
              heal + "attempts_total class:stuck_no_progress,outcome:recovered,strategy:soft_reset",
              2.0,
              heal + "attempts_total class:transient_runtime,outcome:failed,strategy:soft_reset",
              1.0,
              heal + "attempts_total class:deterministic_contract,outcome:exhausted,strategy:fail",
              1.0,
              heal + "recovered_total class:stuck_no_progress,strategy:soft_reset",
              2.0,
              heal + "exhausted_total class:deterministic_contract,strategy:fail",
              1.0,
              "task.step.wall_timeout_total class:stuck_no_progress,strategy:soft_reset",
              1.0,
              "task.step.idle_timeout_total class:stuck_no_progress,strategy:soft_reset",
              1.0,
              "task.step.no_progress_total class:stuck_no_progress,strategy:hard_reset",
              1.0,
              heal + "recovered_total class:stuck_no_progress,strategy:hard_reset",
              1.0);
      // At least: a machine that stands still for a while looks like a step that hangs.
      Map<String, Double> counted = counted(socket, expected);
      assertThat(expected)
          .allSatisfy(
              (name, least) -> assertThat(counted).hasEntrySatisfying(name, atLeast(least)));
      world.await(id, JobState.FAILED);
    }
  }

  private static Consumer<Double> atLeast(double least) {
    return count -> assertThat(count).isGreaterThanOrEqualTo(least);
  }

  /** What has come in, by name and tags, until it is as expected or nothing more comes. */
  private static Map<String, Double> counted(DatagramSocket socket, Map<String, Double> expected)
      throws IOException {
    Pattern line = Pattern.compile("([^:]+):([^|]+)\\|(?:c|ms)(?:\\|#(?:statistic:count,?)?(.*))?");
    Map<String, Double> sums = new TreeMap<>();
    DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
    socket.setSoTimeout((int) SOON.toMillis());
    long end = System.nanoTime() + LONG.toNanos();
    while (System.nanoTime() < end
        && !(expected.entrySet().stream()
                .allMatch(each -> sums.getOrDefault(each.getKey(), 0.0) >= each.getValue())
            && sums.containsKey(
                "task.step.duration_seconds class:none,outcome:done,strategy:none"))) {
      try {
        socket.receive(packet);
      } catch (SocketTimeoutException silence) {
        break;
      }
      new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8)
          .lines()
          .map(line::matcher)
          .filter(Matcher::matches)
          .forEach(
              each ->
                  sums.merge(
                      each.group(1) + " " + Objects.requireNonNullElse(each.group(3), ""),
                      Double.parseDouble(each.group(2)),
                      Double::sum));
    }
    assertThat(sums)
        .containsKey("task.step.duration_seconds class:none,outcome:done,strategy:none");
    return sums;
  }

  /** A kill hits all jobs that run at that moment, each at a different point. */
  @Test
  @OnlyWithRelease
  void wherever_its_worker_is_killed_a_job_ends_with_the_same_files(World world) throws Exception {
    prepare(world);
    JobId undisturbed = enqueued(world);
    ChildProcess worker = worker(world);
    world.await(undisturbed, JobState.SUCCEEDED);
    String tree = tree(world, undisturbed);

    List<JobId> jobs = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      jobs.add(enqueued(world));
    }
    Random random = new Random(SEED);
    while (crashes(world) < POINTS) {
      long seen = stepEvents(world);
      int more = 1 + random.nextInt(12);
      Eventually.until(
          SOON,
          more + " more step events, or the end",
          () -> stepEvents(world) >= seen + more || unfinished(world) == 0);
      if (unfinished(world) == 0) {
        // Too quick for so many points: some more of them.
        for (int i = 0; i < AT_ONCE; i++) {
          jobs.add(enqueued(world));
        }
        continue;
      }
      worker.signal("KILL");
      worker.awaitExit(SOON);
      // Leases are long, so that none is lost on a slow machine; this one expires now.
      world
          .sql()
          .update("UPDATE holdfast.job SET lease_expires_at = now() WHERE state = 'RUNNING'");
      worker = worker(world);
    }
    for (JobId job : jobs) {
      world.await(job, JobState.SUCCEEDED, LONG);
    }
    Set<String> trees = new HashSet<>();
    for (JobId job : jobs) {
      trees.add(tree(world, job));
    }
    assertThat(trees).containsExactly(tree);
    assertThat(crashes(world)).isGreaterThanOrEqualTo(POINTS);
    assertThat(
            world.count(
                "SELECT count(*) FROM holdfast.step WHERE state <> 'DONE' OR checkpoint IS NULL"))
        .isZero();
  }

  private static void prepare(World world) throws Exception {
    Files.writeString(
        world.folder().resolve("holdfast.yaml"),
        """
        runtimes:
          edit:
            command: [sh, ./edit.sh]
        """);
    Files.writeString(
        world.folder().resolve("edit.sh"),
        """
        n=$HOLDFAST_STEP_INDEX
        [ $n = 1 ] || [ -e "file-$((n - 1))" ] || exit 64
        for i in 1 2 3 4 5; do echo "step $n line $i" >> "file-$n"; sleep 0.02; done
        echo "step $n" >> log
        [ $n != 4 ] || rm file-2
        """);
    output(
        world.folder(),
        "sh",
        "-ec",
        "git init -q -b main repo; cd repo; echo start > log; echo 0 > file-0; git add -A;"
            + " git -c user.name=t -c user.email=t@localhost commit -q -m start");
  }

  private static ChildProcess worker(World world) {
    return world
        .worker()
        .env("HOLDFAST_FOLDER", "data")
        .env("MAX_CONCURRENCY", Integer.toString(AT_ONCE))
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", "60")
        .start();
  }

  private static JobId enqueued(World world) {
    return world
        .holdfast()
        .enqueue(
            Job.of(
                    WorkspaceJob.KIND,
                    new WorkspaceJob(
                        "six files",
                        new WorkspaceJob.Source(world.folder().resolve("repo").toString(), "main"),
                        IntStream.rangeClosed(1, 6)
                            .mapToObj(i -> new WorkspaceJob.Task("s" + i, null, null, "edit"))
                            .toList(),
                        null,
                        null))
                .maxCrashes(1_000))
        .id();
  }

  private static String tree(World world, JobId job) throws IOException {
    String result = String.valueOf(world.status(job).result());
    int at = result.indexOf("\"tree\": \"");
    if (at < 0) {
      throw new IOException("no tree in " + result);
    }
    return result.substring(at + 9, at + 49);
  }

  private static long crashes(World world) {
    return world.count("SELECT coalesce(sum(crashes), 0) FROM holdfast.job");
  }

  private static long unfinished(World world) {
    return world.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL");
  }

  private static long stepEvents(World world) {
    return world.count("SELECT count(*) FROM holdfast.event WHERE type LIKE 'task.step.%'");
  }
}
