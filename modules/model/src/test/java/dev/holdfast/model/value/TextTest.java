package dev.holdfast.model.value;

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
  void inert_text_has_no_escape_sequences_and_dots_for_control_characters() {
    assertThat(Text.inert("plain ü 😀\ttab\nline – “quoted”"))
        .isEqualTo("plain ü 😀\ttab\nline – “quoted”");
    assertThat(Text.inert("\u001b[1;31mred\u001b[0m \u009b32mgreen")).isEqualTo("red green");
    assertThat(Text.inert("\u001b]0;title\u0007a \u001b]8;;http://x\u001b\\link"))
        .isEqualTo("a link");
    assertThat(Text.inert("\u001b(B\u001bM\u001b7x\u001b")).isEqualTo("x");
    assertThat(Text.inert("a\0b\u0008c\u007fd\u0085e")).isEqualTo("a·b·c·d·e");
    assertThat(Text.inert("safe\u202egnp.exe")).isEqualTo("safe·gnp.exe");
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
