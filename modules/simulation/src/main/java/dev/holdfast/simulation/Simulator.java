package dev.holdfast.simulation;

import dev.holdfast.simulation.kernel.SimulationLoader;
import dev.holdfast.simulation.trace.Outcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Runs scenarios by their seeds. Any number of threads may run one. */
public final class Simulator {
  private static final String SCENARIOS = "dev.holdfast.simulation.scenario.";

  private static final String HEALTH = "dev/holdfast/queue/health/";
  private static final String REGISTRY = "dev/holdfast/simulation/supervision/Registry";

  /** What a simulated supervisor has instead of its database and its processes. */
  static final Map<String, String> SUPERVISION =
      Map.ofEntries(
          Map.entry(HEALTH + "WorkerRegistry", REGISTRY),
          Map.entry(HEALTH + "WorkerProcesses", REGISTRY + "$Processes"),
          Map.entry(HEALTH + "WorkerProcesses$Place", REGISTRY + "$Place"),
          Map.entry(HEALTH + "Supervisors", REGISTRY + "$Names"),
          Map.entry(HEALTH + "Supervisors$Supervising", REGISTRY + "$Supervising"),
          Map.entry(HEALTH + "Supervisors$Known", REGISTRY + "$Known"),
          Map.entry(HEALTH + "WorkerReadings", REGISTRY + "$Readings"),
          Map.entry(HEALTH + "WorkerCommands", REGISTRY + "$Commands"),
          Map.entry(HEALTH + "ProcessRecovery", REGISTRY + "$Recovery"),
          Map.entry(HEALTH + "WorkerLogs", REGISTRY + "$Logs"),
          Map.entry(HEALTH + "WorkerLogs$Name", REGISTRY + "$LogName"),
          Map.entry("dev/holdfast/process/Companion", "dev/holdfast/simulation/supervision/Child"),
          Map.entry(
              "dev/holdfast/process/RollingFile", "dev/holdfast/simulation/supervision/NoFile"));

  private final String name;
  private final SimulationLoader loader;
  private final Method scenario;

  private Simulator(String name, SimulationLoader loader, String scenario) {
    this.name = name;
    this.loader = loader;
    try {
      this.scenario =
          loader.loadClass(SCENARIOS + scenario).getMethod("run", long.class, boolean.class);
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /**
   * Workers, clients and faults.
   *
   * @param planted folders whose classes take the place of others
   */
  public static Simulator ofWorkers(Path... planted) {
    return new Simulator(
        "workers", SimulationLoader.simulating(List.of(planted), Map.of()), "Scenario");
  }

  /** A supervisor and its worker processes. */
  public static Simulator ofSupervisors(Path... planted) {
    return new Simulator(
        "supervisor",
        SimulationLoader.simulating(List.of(planted), SUPERVISION),
        "SupervisorScenario");
  }

  /** One of each scenario. */
  public static List<Simulator> all() {
    return List.of(ofWorkers(), ofSupervisors());
  }

  public String name() {
    return name;
  }

  /**
   * @param recording whether the lines and calls of the run are kept
   */
  public Outcome run(long seed, boolean recording) {
    try {
      Outcome outcome = (Outcome) scenario.invoke(null, seed, recording);
      if (loader.refused() != null) {
        throw new IllegalStateException(loader.refused());
      }
      return outcome;
    } catch (InvocationTargetException failed) {
      throw new IllegalStateException("seed " + seed, failed.getCause());
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
