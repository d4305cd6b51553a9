package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which packages of the libraries are for services: the guide lists them, all others say no. */
class PublicApiTest {
  private static final Path ROOT = AssembledProgram.checkout();
  private static final List<String> MODULES =
      List.of(
          "holdfast",
          "model",
          "queue",
          "worker",
          "redaction",
          "process",
          "programs",
          "contract",
          "client",
          "embedded",
          "test",
          "micrometer",
          "opentelemetry",
          "spring-boot-starter");
  private static final String NOT = "Not part of the API";
  private static final String ROOT_PACKAGE = "dev.holdfast";

  /** Packages of which a service uses all that is public. */
  private static final Set<String> ENTRIES =
      Set.of(
          ROOT_PACKAGE,
          "dev.holdfast.spring",
          "dev.holdfast.test",
          "dev.holdfast.micrometer",
          "dev.holdfast.opentelemetry",
          "dev.holdfast.client.worker",
          "dev.holdfast.programs");

  /** What services compare with. */
  private static final Set<String> CONSTANTS = Set.of("dev.holdfast.model.job.EventType");

  /** Named beside the packages. */
  private static final Set<String> SINGLE =
      Set.of(
          "dev.holdfast.queue.jdbc.DatabaseException",
          "dev.holdfast.queue.jdbc.StatementObserver",
          "dev.holdfast.queue.schema.Migrations",
          "dev.holdfast.worker.maintenance.Upkeep",
          "dev.holdfast.redaction.Scrubber");

  /** What only modules of Holdfast use, of classes that services use. */
  private static final Set<String> OWN_USE =
      Set.of(
          "JobStore.notifier",
          "JobStore.workers",
          "JobStore.defaults",
          "Maintenance.reap",
          "Maintenance.expire",
          "Maintenance.expireCancelled",
          "Admin.firstTokenKey",
          "Admin.rotateTokenKey",
          "Admin.knownKey");

  private static Map<String, String> packages() {
    Map<String, String> found = new TreeMap<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve("modules/" + module + "/src/main/java"))) {
        for (Path file : files.filter(path -> path.endsWith("package-info.java")).toList()) {
          String text = Files.readString(file);
          Matcher name = Pattern.compile("package ([\\w.]+);").matcher(text);
          assertThat(name.find()).isTrue();
          found.put(name.group(1), text);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return found;
  }

  /** The first column of the table; a name without the first part continues the one before. */
  private static Set<String> listed() throws IOException {
    String guide = Files.readString(ROOT.resolve("docs/guides/java.md"));
    String section = guide.substring(guide.indexOf("\n## What is the API"));
    return section
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.substring(0, line.indexOf('|', 1)))
        .flatMap(cell -> Pattern.compile("`([\\w.]+)`").matcher(cell).results())
        .map(match -> match.group(1))
        .map(name -> name.startsWith(ROOT_PACKAGE) ? name : ROOT_PACKAGE + "." + name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void every_package_is_in_the_guide_or_declared_not_part_of_the_api() throws IOException {
    Set<String> api =
        packages().entrySet().stream()
            .filter(each -> !each.getValue().contains(NOT))
            .map(Map.Entry::getKey)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(listed()).isEqualTo(api);
  }

  @Test
  void methods_of_the_api_use_only_types_of_the_api() throws IOException {
    Set<String> api = listed();
    JavaClasses classes = classes();
    Set<String> leaks = new TreeSet<>();
    for (JavaClass each : classes) {
      if (api.contains(each.getPackageName()) && isPublic(each)) {
        for (JavaMethod method : each.getMethods()) {
          String name = each.getSimpleName() + "." + method.getName();
          if (method.getModifiers().contains(JavaModifier.PUBLIC) && !OWN_USE.contains(name)) {
            Stream.concat(
                    Stream.of(method.getRawReturnType()), method.getRawParameterTypes().stream())
                .map(JavaClass::getBaseComponentType)
                .filter(type -> isForeign(type, api))
                .forEach(type -> leaks.add(name + ": " + type.getName()));
          }
        }
      }
    }
    assertThat(leaks).isEmpty();
  }

  private static JavaClasses classes() {
    return new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .importPackages(ROOT_PACKAGE);
  }

  /**
   * What a service can get from the entry points: types of methods and fields, what they extend,
   * and what extends them. Exceptions are caught and thrown, so they count as well.
   */
  private static Set<JavaClass> reachable(JavaClasses classes, Set<String> api) {
    Set<JavaClass> found = new HashSet<>();
    Deque<JavaClass> next = new ArrayDeque<>();
    for (JavaClass each : classes) {
      boolean entry =
          ENTRIES.contains(each.getPackageName())
              || CONSTANTS.contains(each.getName())
              || each.getSimpleName().endsWith("Exception");
      if (isPublic(each) && entry) {
        next.add(each);
      }
    }
    while (!next.isEmpty()) {
      JavaClass type = next.poll().getBaseComponentType();
      if (!api.contains(type.getPackageName()) || !found.add(type)) {
        continue;
      }
      type.getMethods().stream()
          .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
          .filter(method -> !OWN_USE.contains(type.getSimpleName() + "." + method.getName()))
          .forEach(method -> next.addAll(method.getAllInvolvedRawTypes()));
      type.getFields().stream()
          .filter(field -> field.getModifiers().contains(JavaModifier.PUBLIC))
          .forEach(field -> next.addAll(field.getAllInvolvedRawTypes()));
      next.addAll(type.getAllRawSuperclasses());
      next.addAll(type.getAllRawInterfaces());
      next.addAll(type.getSubclasses());
      type.getEnclosingClass().ifPresent(next::add);
    }
    return found;
  }

  @Test
  void public_types_that_services_cannot_reach_say_that_they_are_not_part_of_the_api()
      throws IOException {
    Set<String> api = listed();
    JavaClasses classes = classes();
    Set<JavaClass> reachable = reachable(classes, api);
    Set<String> silent = new TreeSet<>();
    Set<String> wrong = new TreeSet<>();
    for (JavaClass each : classes) {
      if (isPublic(each) && each.isTopLevelClass() && api.contains(each.getPackageName())) {
        boolean denies = source(each).contains(NOT);
        if (!denies && !reachable.contains(each)) {
          silent.add(each.getName());
        }
        if (denies && reachable.contains(each)) {
          wrong.add(each.getName());
        }
      }
    }
    assertThat(silent).as("cannot be reached, and do not say '%s'", NOT).isEmpty();
    assertThat(wrong).as("can be reached, and say '%s'", NOT).isEmpty();
  }

  private static String source(JavaClass type) throws IOException {
    String path = type.getName().replace('.', '/') + ".java";
    for (String module : MODULES) {
      Path file = ROOT.resolve("modules/" + module + "/src/main/java/" + path);
      if (Files.exists(file)) {
        return Files.readString(file);
      }
    }
    throw new AssertionError("no source of " + type.getName());
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static boolean isForeign(JavaClass type, Set<String> api) {
    String outermost = type.getName().replaceAll("\\$.*", "");
    return type.getPackageName().startsWith(ROOT_PACKAGE)
        && !api.contains(type.getPackageName())
        && !SINGLE.contains(outermost);
  }
}
