package dev.holdfast.chaos;

import dev.holdfast.chaos.cluster.NotInstalledException;
import dev.holdfast.chaos.fault.Fault;
import dev.holdfast.chaos.fault.Faults;
import dev.holdfast.chaos.hostile.HostileRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of {@code ./chaos}. */
@Command(
    name = "chaos",
    mixinStandardHelpOptions = true,
    description =
        "Run jobs on real processes and a real PostgreSQL, break what can break, and check that"
            + " nothing was lost or done twice.",
    footer = {
      "",
      "Exit code 0 when every rule held, 1 otherwise. Faults that did not happen are named."
    })
public final class Chaos implements Callable<Integer> {
  private static final int SOAK_RATE = 50;
  private static final Pattern TIMES = Pattern.compile("(.*):([1-9]\\d?)");

  @Option(names = "--minutes", paramLabel = "N", description = "how long faults go on (default: 2)")
  double minutes = 2;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "repeats the schedule of faults of the run that printed it")
  @Nullable Long seed;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "jobs at most (default: as many as are done while faults go on)")
  int jobs = Integer.MAX_VALUE;

  @Option(
      names = "--jobs-per-second",
      paramLabel = "N",
      description = "how many are enqueued at most (default: as many as are done; with --soak 50)")
  @Nullable Integer jobsPerSecond;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "FAULT",
      description = "these faults only; kill-worker:3 comes three times as often as the others")
  @Nullable List<String> only;

  @Option(
      names = "--per-minute",
      paramLabel = "N",
      description = "faults in a minute, 1 to 1000 (default: 60)")
  int perMinute = Options.PER_MINUTE;

  @Option(names = "--json", paramLabel = "FILE", description = "where the result goes")
  @Nullable Path json;

  @Option(
      names = "--cluster",
      description =
          "two PostgreSQL under Patroni and etcd that fail over, instead of one and all faults")
  boolean cluster;

  @Option(names = "--failovers", paramLabel = "N", description = "how many (default: 10)")
  int failovers = 10;

  @Option(
      names = "--hostile",
      paramLabel = "N",
      description = "so many hostile requests to a server over HTTP, and no other fault")
  int hostile;

  @Option(
      names = "--soak",
      description =
          "no faults: jobs for --minutes, after which no process may have more memory, threads,"
              + " files or connections than before")
  boolean soak;

  @Option(names = "--list", description = "print the faults and end")
  boolean list;

  /** Ends with the exit code of the run. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Chaos()).execute(arguments));
  }

  /** One name as often as it says; as it is when it says so wrongly. */
  static Stream<String> times(String name) {
    Matcher matcher = TIMES.matcher(name);
    return matcher.matches()
        ? Collections.nCopies(Integer.parseInt(matcher.group(2)), matcher.group(1)).stream()
        : Stream.of(name);
  }

  @Override
  public Integer call() throws Exception {
    List<String> known = Faults.all().stream().map(Fault::name).toList();
    if (list) {
      known.forEach(System.out::println);
      return 0;
    }
    List<String> unknown =
        only == null
            ? List.of()
            : only.stream().flatMap(Chaos::times).filter(name -> !known.contains(name)).toList();
    if (!unknown.isEmpty()) {
      System.err.println(
          "chaos: no such fault: "
              + String.join(", ", unknown)
              + "; there are "
              + known.stream().collect(Collectors.joining(", ")));
      return 2;
    }
    long from = seed == null ? new Random().nextInt(1_000_000) : seed;
    if (hostile > 0) {
      return new HostileRun(hostile, from, System.out::println).run().succeeded() ? 0 : 1;
    }
    if (perMinute < 1 || perMinute > 1_000) {
      System.err.println("chaos: --per-minute is " + perMinute + "; it must be 1 to 1000");
      return 2;
    }
    if (soak && (cluster || only != null)) {
      System.err.println("chaos: --soak has no faults: omit --cluster and --only");
      return 2;
    }
    if (jobsPerSecond != null && jobsPerSecond < 1) {
      System.err.println("chaos: --jobs-per-second is " + jobsPerSecond + "; it must be positive");
      return 2;
    }
    Options options =
        new Options(
            Duration.ofMillis((long) (minutes * 60_000)),
            from,
            jobs,
            jobsPerSecond != null ? jobsPerSecond : soak ? SOAK_RATE : Integer.MAX_VALUE,
            only == null ? null : only.stream().flatMap(Chaos::times).toList(),
            json,
            perMinute,
            cluster ? failovers : 0,
            soak);
    try {
      return new ChaosRun(options, System.out::println).run().succeeded() ? 0 : 1;
    } catch (NotInstalledException missing) {
      System.err.println("chaos: " + missing.getMessage());
      return 2;
    }
  }
}
