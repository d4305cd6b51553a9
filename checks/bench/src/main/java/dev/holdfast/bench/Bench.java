package dev.holdfast.bench;

import dev.holdfast.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs Holdfast beside its peers and plain SQL, in turns on one server, and compares. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measure Holdfast beside its peers and plain SQL on one PostgreSQL.",
    footer = {
      "",
      "Trials: single bulk drain drain-1ms pickup flow cold, steps, waits, and of Holdfast alone:",
      "wake-up finished snapshot heartbeat recovery processes memory keys page first-minutes",
      "restart; only by --only:",
      "paint (with Chromium), sleepers",
      "",
      "Queues: plain db-scheduler jobrunr, graphile-worker graphile-batched pg-boss (with npm),",
      "river (with go), dbos (steps waits), restate (waits, with npm); graphile-batched-3 has three",
      "runners, pg-boss-8 eight that fetch"
    })
public final class Bench implements Callable<Integer> {
  @Option(names = "--rounds", paramLabel = "N", description = "how often each is run (default: 3)")
  int rounds = 3;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      description =
          "how often each is run before that, for the JVM's compiler; peers outside it are run"
              + " once (default: 5)")
  int warmUp = 5;

  @Option(names = "--jobs", paramLabel = "N", description = "jobs in a run (default: 200000)")
  int jobs = 200_000;

  @Option(
      names = "--finished",
      paramLabel = "N",
      description = "finished jobs in the table of that trial (default: 5000000)")
  int finished = 5_000_000;

  @Option(
      names = "--filled",
      paramLabel = "N",
      description = "jobs in the table where the page is asked for (default: 1000000)")
  int filled = 1_000_000;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "how long the first minutes of a database are (default: 5)")
  int minutes = 5;

  @Option(
      names = "--sleepers",
      paramLabel = "N",
      description = "jobs that sleep in that trial (default: 1000000)")
  int sleepers = 1_000_000;

  @Option(names = "--only", split = ",", paramLabel = "TRIAL", description = "these trials")
  @Nullable List<String> only;

  @Option(names = "--queues", split = ",", paramLabel = "NAME", description = "these queues")
  @Nullable List<String> queues;

  @Option(
      names = "--database",
      paramLabel = "URL",
      description =
          "JDBC URL of a server to use instead of an embedded one; databases"
              + " holdfast_bench_… are made anew there")
  @Nullable String database;

  @Option(names = "--user", description = "its user")
  String user = "postgres";

  @Option(names = "--password", description = "its password")
  String password = "";

  @Option(
      names = "--setting",
      paramLabel = "NAME=VALUE",
      description =
          "a setting of the embedded server, such as session_preload_libraries=auto_explain")
  Map<String, String> settings = new LinkedHashMap<>();

  @Option(names = "--keep", description = "keep the embedded server's folder, with its log")
  boolean keep;

  @Option(names = "--json", paramLabel = "FILE", description = "where the samples go")
  Path json = Path.of("bench.json");

  private final Report report = new Report();

  /** Ends with the exit code of the run. */
  public static void main(String[] arguments) {
    if (arguments.length > 0 && arguments[0].equals(Child.NAME)) {
      Child.work(arguments);
      return;
    }
    System.exit(new CommandLine(new Bench()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Instant start = Instant.now();
    if (database != null) {
      run(new Target(database, user, password), 0);
    } else {
      settings.putIfAbsent("shared_buffers", "1GB");
      settings.putIfAbsent("max_wal_size", "8GB");
      Path folder = Files.createTempDirectory("holdfast-bench-");
      folder.toFile().setReadable(true, false);
      folder.toFile().setExecutable(true, false);
      String cache = System.getProperty("holdfast.cache");
      try (EmbeddedPostgres postgres =
          EmbeddedPostgres.start(
              EmbeddedPostgres.Options.in(folder.resolve("postgres"))
                  .cache(cache == null ? null : Path.of(cache))
                  .settings(settings))) {
        run(new Target(postgres.jdbcUrl(), postgres.user(), postgres.password()), postgres.pid());
      } finally {
        if (keep) {
          System.out.println("kept: " + folder);
        } else {
          delete(folder);
        }
      }
    }
    report.print();
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("at", start.toString());
    about.put("java", System.getProperty("java.vm.version"));
    about.put("processors", Runtime.getRuntime().availableProcessors());
    about.put("jobs", jobs);
    about.put("rounds", rounds);
    about.put("warmUp", warmUp);
    report.write(json, about);
    System.out.printf(
        Locale.ROOT,
        "%d s in all; samples in %s%n",
        Duration.between(start, Instant.now()).toSeconds(),
        json);
    return 0;
  }

  private void run(Target server, long pid) throws Exception {
    Meter meter = new Meter(pid);
    Trials trials = new Trials(meter, jobs);
    List<Contender> contenders = new ArrayList<>();
    Peers peers =
        new Peers(
            Path.of(System.getProperty("holdfast.bench.sources", "checks/bench/src/main")),
            Path.of(System.getProperty("holdfast.bench.peers", "checks/bench/target/peers")),
            server);
    HoldfastContender holdfast = new HoldfastContender(server.fresh("holdfast_bench_own"));
    contenders.add(holdfast);
    try {
      if (wantsQueue("plain")) {
        contenders.add(new PlainSql(server.fresh("holdfast_bench_plain")));
      }
      if (wantsQueue("db-scheduler")) {
        contenders.add(new DbScheduler(server.fresh("holdfast_bench_dbs")));
      }
      if (wantsQueue("jobrunr")) {
        contenders.add(new JobRunrContender(server.fresh("holdfast_bench_jobrunr")));
      }
      contenders.addAll(peers.start(queues));
      shared(trials, contenders);
      if (wants("steps")) {
        steps(new StepTrials(meter, holdfast), holdfast, server);
      }
      if (wants("waits")) {
        waits(holdfast, peers, server);
      }
      if (wants("wake-up")) {
        HoldfastWaits own = new HoldfastWaits(holdfast);
        for (int round = 1 - warmUp; round <= rounds; round++) {
          say("wake-up", own.name(), round, own.wakeUps());
        }
      }
      Map<String, Callable<List<Sample>>> own = new LinkedHashMap<>();
      own.putAll(new OwnTrials(holdfast, meter, jobs, finished).all());
      own.putAll(new KeyTrials(holdfast, meter, jobs).all());
      own.putAll(new AgeTrials(server, minutes).all());
      own.putAll(new HttpTrials(holdfast, meter).all());
      own.putAll(new PageTrials(holdfast, filled).all());
      if (only != null) { // need Chromium, or minutes and gigabytes
        own.putAll(new PaintTrials(holdfast, filled).all());
        own.putAll(new SleeperTrials(holdfast, meter, jobs, sleepers).all());
      }
      own.putAll(new HealTrials().all());
      for (Map.Entry<String, Callable<List<Sample>>> trial : own.entrySet()) {
        if (wants(trial.getKey())) {
          say(trial.getKey(), "holdfast", 1, trial.getValue().call());
        }
      }
    } finally {
      contenders.forEach(Contender::close);
    }
    if (!peers.leftOut().isEmpty()) {
      System.out.println("left out: " + String.join(", ", peers.leftOut()));
    }
  }

  private void shared(Trials trials, List<Contender> contenders) throws Exception {
    Map<String, Trials.Trial> all = new LinkedHashMap<>();
    all.put("single", trials::single);
    all.put("bulk", trials::bulk);
    all.put("drain", trials::drain);
    all.put("drain-1ms", trials::drainSlow);
    all.put("flow", trials::flow);
    all.put("cold", trials::cold);
    all.put("pickup", trials::pickUp);
    for (Map.Entry<String, Trials.Trial> trial : all.entrySet()) {
      if (!wants(trial.getKey())) {
        continue;
      }
      // Until round 0 for the compilers and the caches. A drain costs this JVM 85 µs of processor
      // time per job at first and 15 after half a million jobs; Node and Go are fast at once.
      for (int round = 1 - warmUp; round <= rounds; round++) {
        for (Contender contender : contenders) {
          boolean isWarm = round < 0 && contender instanceof Peer;
          if (applies(trial.getKey(), contender) && !isWarm) {
            List<Sample> samples = trial.getValue().run(contender);
            say(trial.getKey(), contender.name(), round, samples);
          }
        }
      }
    }
  }

  private void steps(StepTrials trials, HoldfastContender holdfast, Target server)
      throws Exception {
    List<StepTrials.Durable> all = new ArrayList<>();
    all.add(new HoldfastSteps(holdfast));
    try {
      if (wantsQueue("dbos")) {
        all.add(new DbosSteps(server.fresh("holdfast_bench_dbos")));
      }
      for (int round = 1 - warmUp; round <= rounds; round++) {
        for (StepTrials.Durable durable : all) {
          say("steps", durable.name(), round, trials.run(durable));
        }
      }
    } finally {
      all.forEach(StepTrials.Durable::close);
    }
  }

  private void waits(HoldfastContender holdfast, Peers peers, Target server) throws Exception {
    List<WaitTrials.Waiting> all = new ArrayList<>();
    HoldfastWaits own = new HoldfastWaits(holdfast);
    all.add(own);
    try {
      if (wantsQueue("dbos")) {
        all.add(new DbosWaits(server.fresh("holdfast_bench_dbos_waits")));
      }
      Peer restate = wantsQueue(RestateWaits.NAME) ? peers.restate() : null;
      if (restate != null) {
        all.add(new RestateWaits(restate));
      }
      for (WaitTrials.Waiting waiting : all) {
        waiting.start();
      }
      for (int round = 1 - warmUp; round <= rounds; round++) {
        for (WaitTrials.Waiting waiting : all) {
          say("waits", waiting.name(), round, WaitTrials.run(waiting));
        }
      }
    } finally {
      all.forEach(WaitTrials.Waiting::close);
    }
  }

  private static boolean applies(String trial, Contender contender) {
    return switch (trial) {
      case "pickup" -> contender.picksUp();
      case "drain-1ms" -> !(contender instanceof PlainSql);
      default -> true;
    };
  }

  private void say(String trial, String contender, int round, List<Sample> samples) {
    if (round > 0) {
      report.add(samples);
    }
    for (Sample sample : samples) {
      System.out.printf(
          Locale.ROOT,
          "%-10s %-17s %-18s %,14.1f %s%n",
          round <= 0 ? "warming up" : "round " + round,
          contender,
          sample.trial().isEmpty() ? trial : sample.trial(),
          sample.value(),
          sample.unit());
    }
  }

  private boolean wants(String trial) {
    return only == null || only.contains(trial);
  }

  private boolean wantsQueue(String queue) {
    return queues == null || queues.contains(queue);
  }

  private static void delete(Path folder) throws Exception {
    new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
  }
}
