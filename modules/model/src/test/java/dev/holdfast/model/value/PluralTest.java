package dev.holdfast.model.value;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PluralTest {
  @Test
  void one_is_singular_and_any_other_number_is_plural() {
    assertThat(Plural.of(0, "job")).isEqualTo("0 jobs");
    assertThat(Plural.of(1, "job")).isEqualTo("1 job");
    assertThat(Plural.of(12_345, "job")).isEqualTo("12,345 jobs");
    assertThat(Plural.of(1, "process", "processes")).isEqualTo("1 process");
    assertThat(Plural.of(2, "process", "processes")).isEqualTo("2 processes");
  }
}
