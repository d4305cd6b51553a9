package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTest {
  @Test
  void a_short_text_stays_as_it_is() {
    assertThat(Text.excerpt("short", 5)).isEqualTo("short");
  }

  @Test
  void a_long_text_is_cut_and_marked() {
    assertThat(Text.excerpt("too long", 5)).isEqualTo("too …");
  }

  @Test
  void a_cut_never_splits_a_character() {
    assertThat(Text.excerpt("ab😀cd", 4)).isEqualTo("ab…");
    assertThat(Text.excerpt("ab😀cd", 5)).isEqualTo("ab😀…");
  }

  @Test
  void a_nul_becomes_the_replacement_character() {
    assertThat(Text.excerpt("a\0b", 10)).isEqualTo("a\uFFFDb");
  }

  @Test
  void a_text_is_well_formed_when_every_surrogate_has_its_other_half() {
    assertThat(Text.isWellFormed("")).isTrue();
    assertThat(Text.isWellFormed("plain ü 😀😀")).isTrue();
    assertThat(Text.isWellFormed("\uD83D")).isFalse();
    assertThat(Text.isWellFormed("\uD83Dx")).isFalse();
    assertThat(Text.isWellFormed("\uD83D\uD83D\uDE00")).isFalse();
    assertThat(Text.isWellFormed("\uDE00\uD83D")).isFalse();
  }
}
