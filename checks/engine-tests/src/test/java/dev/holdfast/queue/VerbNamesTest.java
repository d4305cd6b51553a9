package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metrics, logs and errors call a verb by the name of its method. */
class VerbNamesTest {
  private static final Pattern METHOD = Pattern.compile("(?m)^  public [^=;{]*?(\\w+)\\(");
  private static final Pattern VERB =
      Pattern.compile(
          "\\b(?:run|runOnce|transact\\w*|reading|changing|holding\\w*|extending|sweeping|show)\\(\\s*\"(\\w+)\"");

  @ParameterizedTest
  @ValueSource(strings = {"JobQueue", "Queries", "Admin", "Maintenance", "Notices"})
  void a_verb_has_the_name_of_its_method(String file) {
    String source =
        Checkout.read(
            Checkout.file("modules/queue/src/main/java/dev/holdfast/queue/" + file + ".java"));
    List<MatchResult> methods = METHOD.matcher(source).results().toList();
    List<String> others = new ArrayList<>();
    List<MatchResult> verbs = VERB.matcher(source).results().toList();
    for (MatchResult verb : verbs) {
      String method =
          methods.stream()
              .filter(each -> each.start() < verb.start())
              .reduce((before, last) -> last)
              .orElseThrow()
              .group(1);
      if (!verb.group(1).equals(method)) {
        others.add(method + " runs as " + verb.group(1));
      }
    }
    assertThat(verbs).isNotEmpty();
    assertThat(others).isEmpty();
  }
}
