package dev.holdfast.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The libraries in other languages have the names of the Java library. */
@OnlyWithAll
class NamesTest {
  /** What handlers in other languages do not have. The READMEs say so. */
  private static final Set<String> ONLY_JAVA =
      Set.of(
          "lease",
          "scratch",
          "attach",
          "grace",
          "alive",
          "steps",
          "waits",
          "settlingInTransaction");

  /** What Go has by other means: a context that is done, the job that a handler is given. */
  private static final Set<String> NOT_IN_GO =
      Set.of(
          "job",
          "id",
          "isCancelled",
          "checkCancelled",
          "onCancel",
          "lease",
          "scratch",
          "attach",
          "grace",
          "alive",
          "steps",
          "waits",
          "settlingInTransaction");

  private final String go = sources("sdk/go", ".go");
  private final String python = sources("sdk/python/src/holdfast", ".py");
  private final String typescript = sources("sdk/typescript/src", ".ts");

  @Test
  void a_handler_has_the_same_methods_in_all_languages() {
    Set<String> names =
        Arrays.stream(JobContext.class.getMethods())
            .map(Method::getName)
            // A keyword in both.
            .map(name -> name.equals("await") ? "awaitSignal" : name)
            .filter(name -> !ONLY_JAVA.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(names).contains("progress", "step", "checkCancelled", "awaitSignal", "continueAs");
    assertThat(names)
        .allSatisfy(
            name -> assertThat(python).containsPattern("(def |self\\.)" + snake(name) + "\\b"));
    assertThat(names)
        .allSatisfy(
            name -> assertThat(typescript).containsPattern("\n  (readonly )?" + name + "[(<:]"));
  }

  @Test
  void a_handler_in_go_has_the_same_functions() {
    Set<String> names =
        Arrays.stream(JobContext.class.getMethods())
            .map(Method::getName)
            .filter(name -> !NOT_IN_GO.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(names).contains("progress", "step", "snooze", "await", "spawn", "continueAs");
    assertThat(names)
        .allSatisfy(
            name ->
                assertThat(go)
                    .containsPattern(
                        "\nfunc "
                            + name.substring(0, 1).toUpperCase(Locale.ROOT)
                            + name.substring(1)
                            + "[(\\[]"));
  }

  @Test
  void states_categories_and_outcomes_are_the_same() {
    Stream.of(JobState.values(), FailureCategory.values(), Cancellation.Outcome.values())
        .flatMap(Arrays::stream)
        .map(Enum::name)
        .forEach(
            name -> {
              assertThat(python).contains(name);
              assertThat(go).contains('"' + name + '"');
              assertThat(typescript).contains('"' + name + '"');
            });
  }

  @Test
  void the_same_codes_are_never_retried() {
    Set<String> never =
        codes().stream()
            .filter(code -> !Failure.of(FailureCategory.USER_CODE, code, "why").retryable())
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(never).contains("VALIDATION");
    assertThat(listed(python, "NEVER_RETRIED = \\((.*?)\\)")).isEqualTo(never);
    assertThat(listed(go, "neverRetried = \\[\\]string\\{(.*?)\\n\\}")).isEqualTo(never);
    assertThat(listed(typescript, "NEVER_RETRIED.*?new Set\\(\\[(.*?)\\]")).isEqualTo(never);
  }

  private static List<String> codes() {
    return Arrays.stream(Failure.class.getFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == String.class)
        .map(NamesTest::value)
        .toList();
  }

  private static String value(Field field) {
    try {
      return (String) field.get(null);
    } catch (IllegalAccessException notPublic) {
      throw new IllegalStateException(notPublic);
    }
  }

  private static Set<String> listed(String text, String pattern) {
    var list = Pattern.compile(pattern, Pattern.DOTALL).matcher(text);
    assertThat(list.find()).as(pattern).isTrue();
    return Pattern.compile("\"([A-Z_]+)\"")
        .matcher(list.group(1))
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String snake(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  private static String sources(String folder, String suffix) {
    try (Stream<Path> files = Files.walk(SdkScript.ROOT.resolve(folder))) {
      return files
          .filter(file -> file.toString().endsWith(suffix))
          .sorted()
          .map(NamesTest::text)
          .collect(Collectors.joining("\n"));
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }
}
