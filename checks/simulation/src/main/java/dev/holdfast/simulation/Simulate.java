package dev.holdfast.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.holdfast.simulation.compare.Comparison;
import dev.holdfast.simulation.planted.PlantedFault;
import dev.holdfast.simulation.planted.PlantedSearch;
import dev.holdfast.simulation.trace.Outcome;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs simulations by hand. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    description =
        "Run workers and supervisors as they ship on virtual time, by seeds, against a model of the queue.",
    footer = {"", "Exit code 0 when every rule held, 1 otherwise."})
public final class Simulate implements Callable<Integer> {
  private static final int PROGRESS = 1_000;
  private static final int LINES = 40;

  @Parameters(arity = "0..1", paramLabel = "SEEDS", description = "how many (default: 1000)")
  long seeds = 1_000;

  @Option(names = "--from", paramLabel = "SEED", description = "the first one (default: random)")
  @Nullable Long from;

  @Option(names = "--seed", paramLabel = "SEED", description = "this one only, with its trace")
  @Nullable Long seed;

  @Option(names = "--compare", description = "also make the calls of each run on PostgreSQL")
  boolean compare;

  @Option(names = "--planted", description = "plant the known faults, and look for each of them")
  boolean planted;

  /** Ends with the exit code of the run. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Simulate()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.OFF);
    if (planted) {
      return planted();
    }
    if (seed != null) {
      return replay(seed);
    }
    long first = from == null ? new Random().nextInt(1_000_000_000) : from;
    return compare ? compared(first) : simulated(first);
  }

  private int replay(long which) throws Exception {
    boolean held = true;
    for (Simulator simulator : Simulator.all()) {
      Outcome outcome = simulator.run(which, true);
      System.out.println(simulator.name());
      outcome.lines().forEach(System.out::println);
      System.out.println(
          outcome.violation() == null ? "every rule held" : "BROKEN " + outcome.violation());
      held &= outcome.violation() == null;
      if (compare && !outcome.calls().isEmpty()) {
        try (Comparison on = new Comparison()) {
          String differs = on.differs(outcome.calls());
          System.out.println(differs == null ? "PostgreSQL does the same" : differs);
          held &= differs == null;
        }
      }
    }
    return held ? 0 : 1;
  }

  private int simulated(long first) throws Exception {
    long begun = System.nanoTime();
    AtomicLong broken = new AtomicLong();
    AtomicLong done = new AtomicLong();
    AtomicLong virtual = new AtomicLong();
    AtomicLong switches = new AtomicLong();
    Map<String, Integer> counts = new TreeMap<>();
    List<Simulator> simulators = Simulator.all();
    try (ExecutorService threads =
        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      LongStream.range(first, first + seeds)
          .forEach(
              each ->
                  threads.execute(
                      () -> {
                        for (Simulator simulator : simulators) {
                          Outcome outcome = simulator.run(each, false);
                          virtual.addAndGet(outcome.virtualNanos() / 1_000_000_000);
                          switches.addAndGet(outcome.switches());
                          if (outcome.violation() != null) {
                            broken.incrementAndGet();
                            report(outcome.violation(), simulator.run(each, true));
                          }
                          synchronized (counts) {
                            outcome.counts().forEach((k, v) -> counts.merge(k, v, Integer::sum));
                          }
                        }
                        if (done.incrementAndGet() % PROGRESS == 0) {
                          System.out.printf("%,d seeds, %d broken%n", done.get(), broken.get());
                        }
                      }));
    }
    double seconds = (System.nanoTime() - begun) / 1e9;
    System.out.printf(
        "%,d seeds from %d in %.1f s: %,.0f a second, %,d virtual hours, %,d switches of threads;"
            + " %d broken%n%s%n",
        seeds,
        first,
        seconds,
        seeds / seconds,
        virtual.get() / 3_600,
        switches.get(),
        broken.get(),
        counts);
    return broken.get() == 0 ? 0 : 1;
  }

  /**
   * @param again the same seed with its trace; the same run unless something in it reads a real
   *     clock
   */
  private static void report(String violation, Outcome again) {
    List<String> lines = again.lines();
    synchronized (System.out) {
      System.out.printf("seed %d broke a rule: %s%n", again.seed(), violation);
      if (!violation.equals(again.violation())) {
        System.out.printf(
            "its second run %s%n",
            again.violation() == null ? "broke none" : "broke another: " + again.violation());
      }
      System.out.printf("the last %d lines:%n", LINES);
      lines.subList(Math.max(0, lines.size() - LINES), lines.size()).forEach(System.out::println);
      System.out.printf("again, with its whole trace: ./simulate --seed %d%n", again.seed());
    }
  }

  private int compared(long first) throws Exception {
    long different = 0;
    Simulator simulator = Simulator.ofWorkers();
    try (Comparison on = new Comparison()) {
      for (long each = first; each < first + seeds; each++) {
        String differs = on.differs(simulator.run(each, true).calls());
        if (differs != null) {
          different++;
          System.out.printf("seed %d:%n%s%n", each, differs);
        }
      }
    }
    System.out.printf("%,d seeds from %d, %d differ%n", seeds, first, different);
    return different == 0 ? 0 : 1;
  }

  private static int planted() throws Exception {
    PlantedSearch search = new PlantedSearch(Path.of(""));
    int found = 0;
    List<PlantedFault> faults = PlantedFault.all();
    for (PlantedFault fault : faults) {
      PlantedSearch.Result result = search.search(fault);
      System.out.println(result);
      found += result.found() == null ? 0 : 1;
    }
    System.out.printf("%d of %d found%n", found, faults.size());
    boolean clean = true;
    for (PlantedFault.Tool tool : PlantedFault.Tool.values()) {
      String said = PlantedSearch.withoutFault(tool);
      clean &= said == null;
      System.out.printf(
          "without a fault, %s: %s%n",
          tool.name().toLowerCase(Locale.ROOT), said == null ? "nothing found" : said);
    }
    return found == faults.size() && clean ? 0 : 1;
  }
}
