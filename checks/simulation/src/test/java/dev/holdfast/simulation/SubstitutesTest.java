package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.simulation.kernel.SimulationLoader;
import dev.holdfast.supervisor.Supervisor;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the simulation has instead of a class has the methods of it that others call. */
class SubstitutesTest {
  private static final String CHILD = "dev/holdfast/simulation/supervision/Child";

  @Test
  void every_method_that_is_called_of_an_original_is_there_in_its_substitute() throws Exception {
    Set<String> missing = new TreeSet<>();
    for (Class<?> of : List.of(Job.class, Worker.class, Budgets.class)) {
      missing.addAll(missing(of, Map.of()));
    }
    missing.addAll(missing(Supervisor.class, Simulator.SUPERVISION));
    assertThat(missing).isEmpty();
  }

  /** In all classes of the module of this one. */
  private static Set<String> missing(Class<?> of, Map<String, String> substitutes)
      throws Exception {
    Path module = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(module)) {
      return missing(module, substitutes);
    }
    try (FileSystem jar = FileSystems.newFileSystem(module)) {
      return missing(jar.getPath("/"), substitutes);
    }
  }

  private static Set<String> missing(Path folder, Map<String, String> substitutes)
      throws Exception {
    Set<String> missing = new TreeSet<>();
    int classes = 0;
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        if (!file.endsWith("module-info.class")) {
          missing.addAll(SimulationLoader.missing(file, substitutes));
          classes++;
        }
      }
    }
    assertThat(classes).isGreaterThan(5);
    return missing;
  }

  @Test
  void a_class_that_calls_what_its_substitute_lacks_is_refused_when_it_is_loaded() {
    Map<String, String> wrong =
        Map.of("dev/holdfast/process/RollingFile", CHILD, "dev/holdfast/process/Companion", CHILD);
    assertThatThrownBy(
            () -> {
              try (SimulationLoader loader = SimulationLoader.simulating(List.of(), wrong)) {
                loader.loadClass("dev.holdfast.supervisor.WorkerLog");
              }
            })
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("WorkerLog calls line(Ljava/lang/String;)V of ")
        .hasMessageContaining("dev.holdfast.simulation.supervision.Child, which stands for it");
  }
}
