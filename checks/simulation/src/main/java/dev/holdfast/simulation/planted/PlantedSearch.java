package dev.holdfast.simulation.planted;

import dev.holdfast.simulation.Simulator;
import dev.holdfast.simulation.compare.Tools;
import dev.holdfast.simulation.kernel.SimulationLoader;
import dev.holdfast.simulation.trace.Outcome;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Plants a fault and lets its tool look for it, within bounds. */
public final class PlantedSearch {
  private static final int MOST_SEEDS = 1_000;

  private final Path checkout;

  /**
   * @param checkout where the sources are
   */
  public PlantedSearch(Path checkout) {
    this.checkout = checkout;
  }

  /**
   * What the search came to.
   *
   * @param found what the tool says; null when it found nothing
   */
  public record Result(PlantedFault fault, @Nullable String found, Duration took) {
    @Override
    public String toString() {
      String said = found == null ? "NOT FOUND" : found.lines().limit(1).findFirst().orElse("");
      return "%-36s %-10s %6.1f s  %s"
          .formatted(fault.name(), fault.foundBy(), took.toMillis() / 1e3, said);
    }
  }

  public Result search(PlantedFault fault) throws Exception {
    Path folder = Files.createTempDirectory("planted-");
    try {
      fault.compile(checkout, folder);
      long begun = System.nanoTime();
      String found = find(fault.foundBy(), folder);
      return new Result(fault, found, Duration.ofNanos(System.nanoTime() - begun));
    } finally {
      delete(folder);
    }
  }

  /**
   * The same tool with the same bounds on the code as it is: what it finds then is no proof of a
   * planted fault. Null when it finds nothing.
   */
  public static @Nullable String withoutFault(PlantedFault.Tool tool) throws Exception {
    return find(tool);
  }

  private static @Nullable String find(PlantedFault.Tool tool, Path... planted) throws Exception {
    return tool == PlantedFault.Tool.SIMULATION ? simulated(planted) : onPostgres(tool, planted);
  }

  private static @Nullable String simulated(Path... planted) {
    Simulator simulator = Simulator.ofWorkers(planted);
    for (long seed = 1; seed <= MOST_SEEDS; seed++) {
      Outcome outcome = simulator.run(seed, false);
      if (outcome.violation() != null) {
        return "seed " + seed + ": " + outcome.violation();
      }
    }
    return null;
  }

  /** In a loader of its own, which has the planted classes. */
  private static @Nullable String onPostgres(PlantedFault.Tool tool, Path... planted)
      throws Exception {
    try (SimulationLoader loader = SimulationLoader.plain(List.of(planted))) {
      return (String)
          loader
              .loadClass(Tools.class.getName())
              .getMethod("differs", String.class)
              .invoke(null, tool.name());
    } catch (InvocationTargetException failed) {
      throw failed.getCause() instanceof Exception cause ? cause : failed;
    }
  }

  private static void delete(Path folder) throws java.io.IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
