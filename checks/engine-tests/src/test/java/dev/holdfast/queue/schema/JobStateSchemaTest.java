package dev.holdfast.queue.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The states that the schema knows are those of {@link JobState}, with the same numbers. */
@ExtendWith(DatabaseExtension.class)
class JobStateSchemaTest {
  private static final Pattern STATE = Pattern.compile("'([A-Z]+)'");

  private static List<String> statesOf(TestDatabase db, String constraint) {
    String definition =
        db.queryOne(
            String.class,
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = ?",
            constraint);
    return STATE
        .matcher(String.valueOf(definition))
        .results()
        .map(match -> match.group(1))
        .toList();
  }

  private static List<String> names(Collection<JobState> states) {
    return states.stream().map(JobState::name).toList();
  }

  @Test
  void a_job_is_in_one_of_the_states(TestDatabase db) {
    assertThat(statesOf(db, "job_state_check"))
        .containsExactlyInAnyOrderElementsOf(names(Arrays.asList(JobState.values())));
  }

  @Test
  void the_terminal_states_are_those_with_an_end(TestDatabase db) {
    assertThat(statesOf(db, "job_terminal_is_finished"))
        .containsExactlyInAnyOrderElementsOf(names(JobState.TERMINAL));
  }

  @Test
  void each_state_has_its_bit(TestDatabase db) {
    for (JobState state : JobState.values()) {
      for (JobState held : JobState.values()) {
        assertThat(
                db.count("SELECT holdfast.unique_after(?::smallint, ?)", held.bit(), state.name()))
            .as("%s, held in %s", state, held)
            .isEqualTo(state == held ? held.bit() : 0);
      }
    }
  }
}
