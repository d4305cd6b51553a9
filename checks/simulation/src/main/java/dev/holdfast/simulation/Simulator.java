package dev.holdfast.simulation;

import dev.holdfast.simulation.kernel.SimulationLoader;
import dev.holdfast.simulation.supervision.Child;
import dev.holdfast.simulation.supervision.NoFile;
import dev.holdfast.simulation.supervision.Registry;
import dev.holdfast.simulation.trace.Outcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs scenarios by their seeds. Any number of threads may run one. */
public final class Simulator {
  private static final String SCENARIOS = "dev.holdfast.simulation.scenario.";

  /** What a simulated supervisor has instead of its database and its processes. */
  static final Map<String, String> SUPERVISION = supervision();

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

  private static Map<String, String> supervision() {
    Map<String, String> instead = new HashMap<>();
    instead.put(original("queue.health.WorkerRegistry"), internal(Registry.class));
    instead.put(original("process.Companion"), internal(Child.class));
    instead.put(original("process.RollingFile"), internal(NoFile.class));
    nested(Registry.class, original("queue.health."), instead);
    return instead;
  }

  private static void nested(Class<?> type, String prefix, Map<String, String> instead) {
    for (Class<?> each : type.getDeclaredClasses()) {
      instead.put(prefix + each.getSimpleName(), internal(each));
      nested(each, prefix + each.getSimpleName() + "$", instead);
    }
  }

  private static String original(String name) {
    return ("dev.holdfast." + name).replace('.', '/');
  }

  private static String internal(Class<?> type) {
    return type.getName().replace('.', '/');
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
