package dev.holdfast.chaos.fleet;

import dev.holdfast.chaos.load.ChaosKinds;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.chaos.load.Records;
import dev.holdfast.chaos.load.WorkspaceJobs;
import dev.holdfast.model.job.Job;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The processes of the program: supervisors with their workers, a server, and remote workers. */
public final class Fleet implements AutoCloseable {
  private static final String SLOTS = "24";
  private static final Duration STOPPING = Duration.ofSeconds(60);
  private static final Duration AFTER_STOPPING = Duration.ofSeconds(10);

  private final Database database;
  private final @Nullable WorkspaceJobs workspaces;
  private final Processes processes = new Processes();
  private final int serverPort = freePort();
  private final FaultProxy http = FaultProxy.beforeHttp(serverPort);
  private final List<Member> members;
  private final Thread keeper =
      Thread.ofPlatform().daemon().name("service-manager").unstarted(this::keep);
  private volatile boolean stopping;
  private volatile String clock = "";
  private final @Nullable Volume work;
  private final Set<Long> frozen = ConcurrentHashMap.newKeySet();

  /**
   * @param volumes whether the disk of handlers can be full
   * @param workspaces null where there can be none
   */
  public Fleet(Database database, boolean volumes, @Nullable WorkspaceJobs workspaces) {
    this.workspaces = workspaces;
    this.database = database;
    this.work = volumes ? mountWork() : null;
    this.members =
        List.of(
            new Member("server", Member.Role.SERVER, this::server),
            supervisor("a"),
            supervisor("b"),
            new Member("worker", Member.Role.WORKER, this::worker),
            new Member("remote-1", Member.Role.REMOTE, this::remote),
            new Member("remote-2", Member.Role.REMOTE, this::remote));
  }

  /** Where the program has the working folders of attempts, and their artifacts. */
  private Volume mountWork() {
    try {
      return Volume.mount(
          processes.folder().resolve("work.image"), processes.folder().resolve(".holdfast"), 200);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Null where handlers have no volume of their own. */
  public @Nullable Volume work() {
    return work;
  }

  /** How far off the clock of the worker is that is started next: {@code +7h}, or not at all. */
  public void clock(String off) {
    clock = off;
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // ---- how each is started

  private Member supervisor(String name) {
    return new Member(
        "supervisor-" + name,
        Member.Role.SUPERVISOR,
        () ->
            onDatabase(launch("supervise", "--concurrency", SLOTS))
                .env("HOLDFAST_SUPERVISOR_NAME", name)
                .env("HOLDFAST_WORKER_PROCESSES", "1")
                .env("HOLDFAST_SUPERVISOR_RESTART_DELAY", "50ms")
                .env("HOLDFAST_SUPERVISOR_RESTART_MAX_DELAY", "500ms")
                .env("HOLDFAST_SUPERVISOR_RESTART_LIMIT", "100000")
                .env("HOLDFAST_SUPERVISOR_RESTART_LIFETIME_LIMIT", "100000")
                .env("HOLDFAST_SUPERVISOR_STOP_TIMEOUT", "5s"));
  }

  private Launch worker() {
    Launch launch = onDatabase(ofAllQueues(launch("worker", "--concurrency", SLOTS)));
    return clock.isEmpty() ? launch : withClock(launch, clock);
  }

  /**
   * Not by the program of that name: it stays between us and the process, and keeps the signals.
   */
  private static Launch withClock(Launch launch, String off) {
    return launch
        .env("LD_PRELOAD", clockLibrary().orElseThrow().toString())
        .env("FAKETIME", off)
        // A wrong clock is set wrong; it does not run wrong.
        .env("DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_FORCE_MONOTONIC_FIX", "0");
  }

  /** That makes a clock wrong, where faketime is installed. */
  public static Optional<Path> clockLibrary() {
    try (Stream<Path> architectures = Files.list(Path.of("/usr/lib"))) {
      return architectures
          .map(folder -> folder.resolve("faketime/libfaketime.so.1"))
          .filter(Files::isReadable)
          .findFirst();
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private Launch server() {
    return onDatabase(launch("server")).env("HOLDFAST_SERVER_PORT", Integer.toString(serverPort));
  }

  private Launch remote() {
    return ofAllQueues(launch("worker", "--concurrency", SLOTS))
        .env("HOLDFAST_SERVER_URL", "http://127.0.0.1:" + http.port());
  }

  private Launch launch(String... command) {
    Launch launch = processes.launch(command);
    if (workspaces != null) {
      launch.env("HOLDFAST_CONFIG", workspaces.settings().toString());
    }
    return launch
        .busy()
        .classPath(classes())
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", Long.toString(ChaosKinds.LEASE.toSeconds()))
        .env(Records.URL, Records.url(database.directUrl()))
        .env(Records.USER, database.user())
        .env(Records.PASSWORD, database.password());
  }

  /** A supervisor would start a process for each, and serves the default one. */
  private static Launch ofAllQueues(Launch launch) {
    return launch.env(
        "HOLDFAST_WORKER_QUEUES", String.join(",", Job.DEFAULT_QUEUE, Load.LIMITED, Load.RATED));
  }

  private Launch onDatabase(Launch launch) {
    return launch
        .env("HOLDFAST_DATABASE_URL", database.url())
        .env("HOLDFAST_DATABASE_USER", database.user())
        .env("HOLDFAST_DATABASE_PASSWORD", database.password());
  }

  private static Path classes() {
    return Path.of(ChaosKinds.class.getProtectionDomain().getCodeSource().getLocation().getPath());
  }

  // ---- life

  public void start() {
    members.forEach(Member::start);
    keeper.start();
  }

  private void keep() {
    while (!stopping) {
      members.forEach(Member::start);
      try {
        TimeUnit.MILLISECONDS.sleep(200);
      } catch (InterruptedException end) {
        return;
      }
    }
  }

  /** The processes of a role that run, but for frozen ones. */
  public List<Long> pids(Member.Role role) {
    return members(role).stream()
        .map(Member::pid)
        .filter(pid -> pid != 0 && !frozen.contains(pid))
        .toList();
  }

  /** From now on faults leave it alone; false when it is frozen already. */
  public boolean freezing(long pid) {
    return frozen.add(pid);
  }

  public void thawed(long pid) {
    frozen.remove(pid);
  }

  public List<Member> members(Member.Role role) {
    return members.stream().filter(member -> member.role() == role).toList();
  }

  /** The worker processes that supervisors say are healthy. */
  public List<Long> supervisedWorkers() throws SQLException {
    return database
        .texts(
            "SELECT pid FROM holdfast.health WHERE pid IS NOT NULL AND status = 'healthy'"
                + " ORDER BY supervisor, component")
        .stream()
        .map(Long::valueOf)
        .filter(pid -> ProcessHandle.of(pid).isPresent() && !frozen.contains(pid))
        .toList();
  }

  /** The processes that run, by name, and the workers of supervisors among them. */
  public Map<String, Long> processes() throws SQLException {
    Map<String, Long> running = new TreeMap<>();
    for (String worker :
        database.texts(
            "SELECT supervisor || '/' || component || ' ' || pid FROM holdfast.health"
                + " WHERE pid IS NOT NULL AND status = 'healthy'")) {
      int blank = worker.lastIndexOf(' ');
      running.put(worker.substring(0, blank), Long.valueOf(worker.substring(blank + 1)));
    }
    members.stream()
        .filter(Member::isAlive)
        .forEach(member -> running.put(member.name(), member.pid()));
    return running;
  }

  /** The processes that did not last: they ended, and were started again. */
  public List<String> restarted() {
    return members.stream()
        .filter(member -> member.starts() > 1)
        .map(member -> member.name() + " was started " + member.starts() + " times")
        .toList();
  }

  /** Between remote workers and the server. */
  public FaultProxy http() {
    return http;
  }

  public Path folder() {
    return processes.folder();
  }

  /** The command line of the program, on this database. */
  public Launch command(String... arguments) {
    return onDatabase(processes.launch(arguments));
  }

  /**
   * Ends all gracefully. Returns the processes that did not end, and what they have left running.
   */
  public List<String> stop() throws IOException {
    stopping = true;
    keeper.interrupt();
    List<ChildProcess> alive =
        members.stream().filter(Member::isAlive).map(Member::process).toList();
    alive.forEach(Fleet::terminate);
    List<String> left =
        new ArrayList<>(
            alive.stream()
                .filter(process -> !ended(process))
                .map(process -> "process " + process.pid())
                .toList());
    // Workers of supervisors, and programs of handlers.
    left.addAll(WorkingProcesses.leftIn(folder(), AFTER_STOPPING));
    return left;
  }

  private static void terminate(ChildProcess process) {
    try {
      process.signal("TERM");
    } catch (IllegalStateException unsent) {
      // It has ended by itself just now; if not, it is found alive below.
    }
  }

  private static boolean ended(ChildProcess process) {
    try {
      process.awaitExit(STOPPING);
      return true;
    } catch (AssertionError stillThere) {
      return false;
    }
  }

  /** What the processes have printed, at most their latest lines. */
  public List<String> lines() {
    return processes.lines();
  }

  /** Of the server, for clients: through the proxy. */
  public int httpPort() {
    return http.port();
  }

  public void printOutput() {
    processes.printOutput();
  }

  @Override
  public void close() {
    stopping = true;
    http.close();
    processes.end();
    if (work != null) {
      work.close();
    }
    processes.close();
  }
}
