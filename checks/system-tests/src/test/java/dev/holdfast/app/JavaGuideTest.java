package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.testkit.Markdown;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the guide to the library names exists, and what its code uses can be imported. */
class JavaGuideTest {
  private static final Path ROOT = AssembledProgram.checkout();
  private static final Path GUIDE = Path.of("docs/guides/java.md");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern TYPE = Pattern.compile("(?<![.\\w])[A-Z]\\w+");
  private static final Pattern CALL = Pattern.compile("(\\w+)\\(");

  /** Of these classes are the methods in the tables headed "method". */
  private static final List<Class<?>> TABLES = List.of(Job.class, WorkerBuilder.class);

  /** In tables of a method, but of the object that makes the one the table is about. */
  private static final Set<String> OTHERS = Set.of("worker");

  @Test
  void every_method_in_a_table_exists() throws IOException {
    Set<String> known =
        TABLES.stream()
            .flatMap(type -> Stream.of(type.getMethods()))
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    known.addAll(OTHERS);
    List<String> named = new ArrayList<>();
    boolean ofMethods = false;
    for (String line : Files.readAllLines(ROOT.resolve(GUIDE))) {
      ofMethods = line.startsWith("| method |") || ofMethods && line.startsWith("|");
      if (ofMethods) {
        String cell = line.substring(0, line.indexOf('|', 1));
        CALL.matcher(cell).results().map(match -> match.group(1)).forEach(named::add);
      }
    }
    assertThat(named).hasSizeGreaterThan(25);
    assertThat(known).containsAll(named);
  }

  @Test
  void every_type_that_the_code_uses_is_listed_with_its_package() throws IOException {
    Map<String, Set<String>> listed = listed();
    Set<String> all = new TreeSet<>();
    listed.values().forEach(all::addAll);
    Map<String, Set<String>> ours = publicTypes();
    Set<String> used = new TreeSet<>();
    for (Markdown.Block block : Markdown.blocks(ROOT.resolve(GUIDE))) {
      if (block.language().equals("java")) {
        TYPE.matcher(String.join("\n", block.lines()))
            .results()
            .map(MatchResult::group)
            .filter(name -> ours.values().stream().anyMatch(names -> names.contains(name)))
            .forEach(used::add);
      }
    }
    used.removeAll(Set.of("Attempt", "Report")); // types of the examples
    assertThat(used).hasSizeGreaterThan(30);
    assertThat(all).containsAll(used);
    listed.forEach((name, types) -> assertThat(ours.get(name)).as(name).containsAll(types));
  }

  /** Packages by the table: one after the other, types of each up to a semicolon. */
  private static Map<String, Set<String>> listed() throws IOException {
    String guide = Files.readString(ROOT.resolve(GUIDE));
    Map<String, Set<String>> listed = new TreeMap<>();
    guide
        .substring(guide.indexOf("| package | types |"), guide.indexOf("\n## Jobs"))
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.split("\\|", -1))
        .forEach(
            row -> {
              List<String> packages = inBackticks(row[1]);
              String[] types = row[2].split(";", -1);
              for (int i = 0; i < packages.size(); i++) {
                String name = packages.get(i);
                listed.put(
                    name.startsWith("dev.") ? name : "dev.holdfast." + name,
                    inBackticks(types[types.length == 1 ? 0 : i]).stream()
                        .map(type -> type.replaceFirst("\\..*", ""))
                        .collect(Collectors.toCollection(TreeSet::new)));
              }
            });
    return listed;
  }

  private static List<String> inBackticks(String text) {
    return CODE.matcher(text).results().map(match -> match.group(1)).toList();
  }

  private static Map<String, Set<String>> publicTypes() throws IOException {
    Map<String, Set<String>> found = new TreeMap<>();
    try (Stream<Path> modules = Files.list(ROOT.resolve("modules"))) {
      for (Path sources : modules.map(module -> module.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(sources.resolve("dev/holdfast"))) {
          try (Stream<Path> files = Files.walk(sources)) {
            files
                .filter(file -> file.toString().endsWith(".java"))
                .filter(JavaGuideTest::isPublic)
                .forEach(
                    file ->
                        found
                            .computeIfAbsent(
                                sources.relativize(file.getParent()).toString().replace('/', '.'),
                                name -> new TreeSet<>())
                            .add(file.getFileName().toString().replace(".java", "")));
          }
        }
      }
    }
    return found;
  }

  private static boolean isPublic(Path file) {
    try {
      return Pattern.compile("(?m)^public ").matcher(Files.readString(file)).find();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void every_jar_is_a_java_module_with_the_name_of_its_artifact() {
    Path lib = AssembledProgram.jar().resolveSibling("lib");
    Set<String> names =
        ModuleFinder.of(lib).findAll().stream()
            .map(ModuleReference::descriptor)
            .map(module -> module.name())
            .filter(name -> name.contains("holdfast"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(names)
        .contains("dev.holdfast", "dev.holdfast.model", "dev.holdfast.queue", "dev.holdfast.worker")
        .allMatch(name -> name.equals("dev.holdfast") || name.startsWith("dev.holdfast."));
  }
}
