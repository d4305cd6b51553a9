package dev.holdfast.model.job;

import static dev.holdfast.model.job.JobState.CANCELLED;
import static dev.holdfast.model.job.JobState.FAILED;
import static dev.holdfast.model.job.JobState.PENDING;
import static dev.holdfast.model.job.JobState.RETRYING;
import static dev.holdfast.model.job.JobState.RUNNING;
import static dev.holdfast.model.job.JobState.SUCCEEDED;
import static dev.holdfast.model.job.JobState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JobStateTest {
  // Written out again on purpose: a change of the table in the code must be meant twice.
  private static final Map<JobState, Set<JobState>> ALLOWED =
      Map.of(
          WAITING, Set.of(PENDING, FAILED, CANCELLED),
          PENDING, Set.of(RUNNING, FAILED, CANCELLED),
          RUNNING, Set.of(WAITING, PENDING, RETRYING, SUCCEEDED, FAILED, CANCELLED),
          RETRYING, Set.of(PENDING, FAILED, CANCELLED),
          SUCCEEDED, Set.of(PENDING),
          FAILED, Set.of(PENDING),
          CANCELLED, Set.of(PENDING));

  @ParameterizedTest
  @EnumSource
  void only_the_transitions_of_the_specification_are_allowed(JobState state) {
    assertThat(state.next()).isEqualTo(ALLOWED.get(state));
    for (JobState next : JobState.values()) {
      assertThat(state.mayBecome(next)).isEqualTo(state.next().contains(next));
    }
  }

  @ParameterizedTest
  @EnumSource
  void no_state_may_become_itself(JobState state) {
    assertThat(state.mayBecome(state)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void a_state_is_either_terminal_or_active(JobState state) {
    assertThat(state.isTerminal()).isEqualTo(Set.of(SUCCEEDED, FAILED, CANCELLED).contains(state));
    assertThat(JobState.ACTIVE.contains(state)).isEqualTo(!state.isTerminal());
  }

  @Test
  void the_sets_of_states_are_immutable() {
    assertThatThrownBy(() -> JobState.TERMINAL.add(PENDING))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> JobState.ACTIVE.remove(PENDING))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> RUNNING.next().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void the_bits_are_those_of_the_schema() {
    assertThat(JobState.bits(Set.of())).isZero();
    assertThat(JobState.bits(Set.of(WAITING, PENDING, RUNNING, RETRYING))).isEqualTo(0b1111);
    assertThat(JobState.bits(Set.of(JobState.values()))).isEqualTo(0b1111111);
    assertThat(CANCELLED.bit()).isEqualTo(64);
  }
}
