package dev.holdfast.chaos;

import dev.holdfast.chaos.cluster.NotInstalledException;
import dev.holdfast.chaos.fault.Fault;
import dev.holdfast.chaos.fault.Faults;
import dev.holdfast.chaos.hostile.HostileRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
    footer = {"", "Exit code 0 when every rule held and every fault happened, 1 otherwise."})
public final class Chaos implements Callable<Integer> {
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

  @Option(names = "--only", split = ",", paramLabel = "FAULT", description = "these faults only")
  @Nullable List<String> only;

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

  @Option(names = "--list", description = "print the faults and end")
  boolean list;

  /** Ends with the exit code of the run. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Chaos()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    List<String> known = Faults.all().stream().map(Fault::name).toList();
    if (list) {
      known.forEach(System.out::println);
      return 0;
    }
    List<String> unknown =
        only == null ? List.of() : only.stream().filter(name -> !known.contains(name)).toList();
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
    Options options =
        new Options(
            Duration.ofMillis((long) (minutes * 60_000)),
            from,
            jobs,
            only,
            json,
            cluster ? failovers : 0);
    try {
      return new ChaosRun(options, System.out::println).run().succeeded() ? 0 : 1;
    } catch (NotInstalledException missing) {
      System.err.println("chaos: " + missing.getMessage());
      return 2;
    }
  }
}
