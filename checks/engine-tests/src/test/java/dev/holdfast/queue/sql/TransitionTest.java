package dev.holdfast.queue.sql;

import static dev.holdfast.model.job.JobState.CANCELLED;
import static dev.holdfast.model.job.JobState.FAILED;
import static dev.holdfast.model.job.JobState.PENDING;
import static dev.holdfast.model.job.JobState.RETRYING;
import static dev.holdfast.model.job.JobState.RUNNING;
import static dev.holdfast.model.job.JobState.SUCCEEDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.queue.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Statements change states as the table of JobState allows, and in no other way. */
class TransitionTest {
  @Test
  void a_transition_that_is_not_allowed_cannot_be_built() {
    assertThatThrownBy(() -> Transition.from(SUCCEEDED).to(RUNNING))
        .hasMessage("SUCCEEDED may not become RUNNING");
    assertThatThrownBy(() -> Transition.from(RUNNING, FAILED).to(PENDING, SUCCEEDED))
        .hasMessage("FAILED may not become SUCCEEDED");
  }

  @Test
  void one_state_is_compared_and_several_are_listed() {
    assertThat(Transition.from(RETRYING).to(PENDING).isFrom("j")).isEqualTo("j.state = 'RETRYING'");
    assertThat(Transition.from(FAILED, CANCELLED).to(PENDING).isFrom("j"))
        .isEqualTo("j.state IN ('FAILED', 'CANCELLED')");
  }

  @Test
  void all_states_except_some_are_taken_from_the_table() {
    assertThat(Transition.toFromAllBut(CANCELLED, RUNNING).isFrom("j"))
        .isEqualTo("j.state IN ('WAITING', 'PENDING', 'RETRYING')");
  }

  @Test
  void a_transition_to_one_state_updates_the_unique_key() {
    assertThat(Transition.from(RUNNING).to(SUCCEEDED).set())
        .isEqualTo(
            "state = 'SUCCEEDED',"
                + " unique_states = holdfast.unique_after(j.unique_states, 'SUCCEEDED')");
    assertThatThrownBy(() -> Transition.from(RUNNING).to(FAILED, PENDING).set())
        .hasMessageContaining("which of");
  }

  @Test
  void no_statement_changes_the_state_of_a_job_by_itself() throws IOException {
    Pattern assignment = Pattern.compile("unique_after|holdfast\\.job j?\\s+SET state");
    try (Stream<Path> files = Files.walk(Checkout.file("modules/queue/src/main/java"))) {
      List<String> found =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> assignment.matcher(Checkout.read(file)).find())
              .map(file -> file.getFileName().toString())
              .toList();
      assertThat(found).containsExactly("Transition.java");
    }
  }
}
