package dev.holdfast.model.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
  private static final List<String> NAMES = List.of("list", "pause", "resume", "limit", "--state");

  @ParameterizedTest
  @CsvSource({"lst, list", "lsit, list", "resmue, resume", "--sate, --state", "pau, pause"})
  void the_nearest_name_is_found(String word, String name) {
    assertThat(Spelling.nearest(word, NAMES)).contains(name);
  }

  @ParameterizedTest
  @CsvSource({"x", "delete", "--verbose", "l"})
  void a_name_unlike_all_others_has_no_suggestion(String word) {
    assertThat(Spelling.nearest(word, NAMES)).isEmpty();
  }

  @Test
  void swapped_adjacent_letters_count_as_one_edit() {
    assertThat(Spelling.distance("hlep", "help")).isEqualTo(1);
    assertThat(Spelling.distance("mial", "mail")).isEqualTo(1);
    assertThat(Spelling.distance("mail", "mail")).isZero();
    assertThat(Spelling.distance("", "mail")).isEqualTo(4);
  }
}
