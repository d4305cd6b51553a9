package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What the steps of a workspace job have done, for a person who is asked whether it may go on: what
 * each has said and changed, and as much of the patches as there is room for. From the checkpoints,
 * so that no workspace is needed.
 */
final class ChangesSoFar {
  /** Before secrets are taken out, which may make it shorter. */
  private static final int MOST_READ = 4 * Limits.MESSAGE_CHARS;

  private static final int MOST_SUMMARY = 200;
  private static final int MOST_FILES = 50;
  private static final String MORE = "\n(more on the page of the job)";

  private final WorkspaceRun.Scope scope;
  private final StepHistory history;

  ChangesSoFar(WorkspaceRun.Scope scope, StepHistory history) {
    this.scope = scope;
    this.history = history;
  }

  /**
   * @param before which step
   * @param own what the job itself says, as it was written
   */
  String text(int before, String own) {
    List<Checkpoint> done = history.before(before);
    if (done.isEmpty()) {
      return own;
    }
    String beginning = own.isEmpty() ? "" : own + "\n\n";
    int room = Limits.MESSAGE_CHARS - beginning.length() - MORE.length();
    if (room <= 0) {
      return own;
    }
    String changes = Text.wellFormed(scope.scrubber().scrub(Text.excerpt(read(done), MOST_READ)));
    return beginning + (changes.length() <= room ? changes : Text.excerpt(changes, room) + MORE);
  }

  private String read(List<Checkpoint> done) {
    StringBuilder text = new StringBuilder();
    for (Checkpoint step : done) {
      text.append("%s: %s%n".formatted(step.stepId(), Text.excerpt(step.summary(), MOST_SUMMARY)));
      step.changedFiles().stream()
          .limit(MOST_FILES)
          .forEach(file -> text.append("  ").append(file).append('\n'));
      if (step.changedFiles().size() > MOST_FILES) {
        text.append("  and %,d more%n".formatted(step.changedFiles().size() - MOST_FILES));
      }
    }
    for (Checkpoint step : done) {
      if (text.length() < MOST_READ) {
        text.append('\n').append(scope.host().patch(step.stepId()).map(this::shown).orElse(""));
      }
    }
    return text.toString().stripTrailing();
  }

  /** The content of binary files is for git alone. */
  private String shown(Patch patch) {
    byte[] bytes = patch.bytes();
    String text =
        new String(
            bytes.length <= MOST_READ ? bytes : Arrays.copyOf(bytes, MOST_READ),
            StandardCharsets.UTF_8);
    boolean[] binary = {false};
    return text.lines()
        .filter(
            line -> {
              binary[0] =
                  line.equals("GIT binary patch") || (binary[0] && !line.startsWith("diff "));
              return !binary[0] || line.equals("GIT binary patch");
            })
        .collect(Collectors.joining("\n", "", "\n"));
  }
}
