package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChaosTest {
  @Test
  void a_fault_comes_as_often_as_its_number_says() {
    assertThat(Chaos.times("kill-worker:3"))
        .containsExactly("kill-worker", "kill-worker", "kill-worker");
    assertThat(Chaos.times("kill-worker")).containsExactly("kill-worker");
    assertThat(Chaos.times("kill-worker:0")).containsExactly("kill-worker:0");
  }
}
