package dev.holdfast.app;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The modules and what each may depend on, as docs/internals.md lists them. */
class ArchitectureTest {
  private static final String ROOT = "dev.holdfast";

  /** Its first group is what follows {@code holdfast-} in the name of the artifact. */
  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>dev\\.holdfast</groupId>\\s*"
              + "<artifactId>holdfast(?:-(\\w+))?</artifactId>.*?</dependency>",
          Pattern.DOTALL);

  private static final Map<String, Set<String>> MAY_SEE =
      Map.ofEntries(
          entry("model"),
          entry("process"),
          entry("embedded"),
          entry("redaction", "model"),
          entry("queue", "model"),
          entry("worker", "model"),
          entry("programs", "model", "process", "redaction", "worker"),
          entry("workspace", "model", "process", "redaction", "worker"),
          entry("supervisor", "model", "process", "queue"),
          entry("holdfast", "model", "queue", "redaction", "worker"),
          entry("contract", "model"),
          entry("operate", "model", "contract", "queue"),
          entry("client", "model", "contract", "worker"),
          entry("micrometer", "model", "queue", "worker", "holdfast"),
          entry("opentelemetry", "model", "worker", "holdfast"),
          entry("test", "model", "queue", "worker", "embedded", "holdfast"),
          entry("spring", "model", "queue", "worker", "holdfast", "micrometer", "opentelemetry"),
          entry(
              "server",
              "model",
              "queue",
              "worker",
              "redaction",
              "contract",
              "operate",
              "holdfast",
              "micrometer"),
          entry(
              "app",
              "model",
              "process",
              "queue",
              "worker",
              "redaction",
              "programs",
              "workspace",
              "supervisor",
              "holdfast",
              "embedded",
              "contract",
              "operate",
              "client",
              "server"));

  /**
   * How the queue is entered, what sends a claim or a mixed batch to its statements, and a cancel,
   * which others include.
   */
  private static final Set<String> RUN_VERBS =
      Set.of(
          "JobQueue",
          "Queries",
          "Admin",
          "Maintenance",
          "ProcessRecovery",
          "ClaimByRules",
          "UnreadableJobs",
          "Cancel",
          "Settle",
          "WriteReports");

  private static Map.Entry<String, Set<String>> entry(String module, String... seen) {
    return Map.entry(module, Set.of(seen));
  }

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT)
          .that(
              DescribedPredicate.describe(
                  "of the product", c -> !Set.of("testkit", "examples").contains(module(c))));

  static Set<String> modules() {
    return MAY_SEE.keySet();
  }

  private static String module(JavaClass type) {
    String name = type.getPackageName();
    return name.equals(ROOT) ? "holdfast" : name.substring(ROOT.length() + 1).split("\\.", 2)[0];
  }

  private static boolean isOurs(JavaClass type) {
    return type.getPackageName().equals(ROOT) || type.getPackageName().startsWith(ROOT + ".");
  }

  @Test
  void every_module_of_the_build_is_in_the_table_of_dependencies() {
    assertThat(CLASSES.stream().map(ArchitectureTest::module).collect(Collectors.toSet()))
        .isEqualTo(MAY_SEE.keySet());
  }

  @ParameterizedTest
  @MethodSource("modules")
  void a_module_depends_only_on_its_allowed_modules(String module) {
    Set<String> allowed = MAY_SEE.getOrDefault(module, Set.of());
    classes()
        .should(
            new ArchCondition<JavaClass>("see only " + allowed) {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                if (!module(type).equals(module)) {
                  return;
                }
                type.getDirectDependenciesFromSelf().stream()
                    .filter(d -> isOurs(d.getTargetClass()))
                    .map(d -> module(d.getTargetClass()))
                    .filter(seen -> !seen.equals(module) && !allowed.contains(seen))
                    .forEach(
                        seen ->
                            events.add(
                                SimpleConditionEvent.violated(
                                    type, type.getName() + " sees " + seen)));
              }
            })
        .check(CLASSES);
  }

  @Test
  void the_library_depends_neither_on_process_nor_programs_nor_workspace() throws IOException {
    assertThat(brought("holdfast"))
        .containsExactlyInAnyOrder("model", "queue", "redaction", "worker");
    assertThat(brought("programs")).contains("process");
    assertThat(brought("workspace")).contains("process", "redaction");
  }

  /** The modules of this build that a user of this one gets with it. */
  private static Set<String> brought(String module) throws IOException {
    Set<String> found = new TreeSet<>();
    Deque<String> left = new ArrayDeque<>(List.of(module));
    while (!left.isEmpty()) {
      String pom =
          Files.readString(
              AssembledProgram.checkout()
                  .resolve("modules")
                  .resolve(left.pop())
                  .resolve("pom.xml"));
      DEPENDENCY
          .matcher(pom)
          .results()
          .filter(dependency -> !dependency.group().contains("<scope>test</scope>"))
          .map(dependency -> Objects.requireNonNullElse(dependency.group(1), "holdfast"))
          .filter(found::add)
          .forEach(left::push);
    }
    return found;
  }

  @Test
  void there_are_no_package_cycles() {
    slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void packages_of_the_queue_depend_only_on_those_before_them_in_adr_16() throws IOException {
    List<Set<String>> order = packagesOfTheQueue();
    Map<String, Integer> place = new HashMap<>();
    for (int i = 0; i < order.size(); i++) {
      for (String each : order.get(i)) {
        assertThat(place.put(each, i)).as("%s is named once", each).isNull();
      }
    }
    Set<String> found = new TreeSet<>();
    Set<String> against = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      if (!module(type).equals("queue")) {
        continue;
      }
      String from = packageOfTheQueue(type);
      found.add(from);
      type.getDirectDependenciesFromSelf().stream()
          .map(dependency -> dependency.getTargetClass())
          .filter(seen -> isOurs(seen) && module(seen).equals("queue"))
          .filter(seen -> !packageOfTheQueue(seen).equals(from))
          .filter(seen -> place.get(packageOfTheQueue(seen)) >= place.get(from))
          .forEach(seen -> against.add(type.getName() + " sees " + seen.getName()));
    }
    assertThat(found).isEqualTo(new TreeSet<>(place.keySet()));
    assertThat(against).isEmpty();
  }

  private static String packageOfTheQueue(JavaClass type) {
    return type.getPackageName().substring(type.getPackageName().lastIndexOf('.') + 1);
  }

  /** The line with arrows; those between two arrows do not depend on each other. */
  private static List<Set<String>> packagesOfTheQueue() throws IOException {
    try (Stream<String> lines =
        Files.lines(AssembledProgram.checkout().resolve("docs/adr/0016-packages-by-concern.md"))) {
      String line = lines.filter(each -> each.startsWith("    jdbc ←")).findFirst().orElseThrow();
      return Stream.of(line.split("←")).map(each -> Set.of(each.strip().split(", "))).toList();
    }
  }

  @Test
  void only_those_who_run_verbs_materialize_jobs() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".queue.batch")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName(ROOT + ".queue.batch.MaterializeBatch")
        .check(CLASSES);
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".queue.batch")
        .and(
            DescribedPredicate.describe(
                "run no verbs", type -> !RUN_VERBS.contains(outermost(type).getSimpleName())))
        .should()
        .callMethodWhere(
            DescribedPredicate.describe(
                "it materializes",
                call -> call.getTargetOwner().getSimpleName().equals("MaterializedJobs")))
        .check(CLASSES);
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }

  @Test
  void the_worker_does_not_use_jdbc() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".worker..", ROOT + ".model..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..")
        .check(CLASSES);
  }

  @Test
  void the_model_needs_nothing_but_the_jdk() {
    classes()
        .that()
        .resideInAPackage(ROOT + ".model..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", ROOT + ".model..", "org.jspecify..")
        .check(CLASSES);
  }

  @Test
  void queue_and_worker_never_read_the_wall_clock_of_this_machine() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".queue..", ROOT + ".worker..", ROOT)
        .and()
        // The times of files are of this machine, and a step that is silent is judged by them.
        .resideOutsideOfPackage(ROOT + ".worker.steps")
        .should()
        .callMethod(Instant.class, "now")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .check(CLASSES);
  }

  @Test
  void only_one_class_writes_to_the_terminal() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".app..", ROOT + ".client..", ROOT + ".supervisor..")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".app.terminal.Terminal")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .callMethod(Throwable.class, "printStackTrace")
        .check(CLASSES);
  }

  @Test
  void nothing_is_called_util_helper_manager_or_impl() {
    noClasses().should().haveNameMatching(".*(Util|Utils|Helper|Manager|Impl)").check(CLASSES);
  }
}
