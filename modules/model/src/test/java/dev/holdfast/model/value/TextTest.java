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
  void inert_text_has_dots_for_what_is_not_seen_or_turns_text_around() {
    for (int c :
        new int[] {
          0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202D, 0x2060, 0x2064,
          0x2066, 0x2069, 0xFEFF, 0xFFF9, 0x1D173, 0x84, 0x90, 0x9D, 0x9F, '\r', 0xB, 0x7
        }) {
      String character = Character.toString(c);
      assertThat(Text.inert("a" + character + "b")).as("U+%04X", c).isEqualTo("a·b");
      assertThat(Text.inert("ü" + character + "ü")).as("U+%04X", c).isEqualTo("ü·ü");
    }
  }

  @Test
  void joiners_stay_where_they_join_and_are_dots_between_ascii() {
    String joined = "👩\u200d👧 ❤\ufe0f \u0645\u06cc\u200c\u062e 🏴\udb40\udc67\udb40\udc62 \u0600";
    assertThat(Text.inert(joined)).isEqualTo(joined);
    assertThat(Text.inert("a\u200db\u200c\u200cc\u034f")).isEqualTo("a·b··c·");
    assertThat(Text.inert("a\udb40\udc41\udb40\udc42")).isEqualTo("a··");
    assertThat(Text.inert("ü\u202e\u200d")).isEqualTo("ü··");
  }

  @Test
  void an_escape_may_stand_for_what_is_not_inert() {
    assertThat(Text.replaced("a\u009b\n😀\udb40\udc01", c -> "<%X>".formatted(c)))
        .isEqualTo("a<9B>\n😀\udb40\udc01");
    assertThat(Text.replaced("a\udb40\udc01", c -> "<%X>".formatted(c))).isEqualTo("a<E0001>");
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
