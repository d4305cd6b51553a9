package dev.holdfast.model.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.PendingCommand.Recovery;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PendingCommandTest {
  private static final List<String> STEPS = List.of("first", "second", "third");

  @Test
  void a_command_for_a_step_concerns_it_and_all_after_it() {
    Recovery recovery =
        new Recovery(CommandAction.RETRY_STEP, "second", "ada", "again", Instant.EPOCH);
    assertThat(STEPS)
        .filteredOn(step -> recovery.concerns(step, id -> STEPS.indexOf(id) < STEPS.indexOf(step)))
        .containsExactly("second", "third");
  }
}
