package dev.holdfast.model.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.JobContent;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchSyntaxTest {
  private static final Instant NOW = Instant.parse("2026-11-17T12:00:00Z");

  private static JobFilter parse(String search) {
    return SearchSyntax.parse(search, NOW);
  }

  @Test
  void names_with_a_colon_are_filters_and_other_words_are_text() {
    JobFilter filter =
        parse("state:failed,RUNNING kind:mail age:<1h payload.customer:c499 two words code:SMTP");
    assertThat(filter.states()).isEqualTo(Set.of(JobState.FAILED, JobState.RUNNING));
    assertThat(filter.kind()).isEqualTo("mail");
    assertThat(filter.from()).isEqualTo(JobCursor.at(NOW.minus(Duration.ofHours(1))));
    assertThat(filter.before()).isNull();
    assertThat(filter.content().text()).isEqualTo("two words");
    assertThat(filter.content().code()).isEqualTo("SMTP");
    assertThat(filter.content().payload())
        .containsExactly(new JobContent.PayloadField(List.of("customer"), "c499"));
  }

  @Test
  void an_empty_search_matches_every_job() {
    assertThat(parse("")).isEqualTo(JobFilter.ALL);
    assertThat(parse("  ")).isEqualTo(JobFilter.ALL);
  }

  @Test
  void quotes_keep_blanks_and_colons() {
    assertThat(parse("\"state: unknown\"").content().text()).isEqualTo("state: unknown");
    assertThat(parse("\"state: unknown\"").states()).isEmpty();
    assertThat(parse("payload.a.b:\"x y\"").content().payload())
        .containsExactly(new JobContent.PayloadField(List.of("a", "b"), "x y"));
  }

  @Test
  void a_colon_after_another_word_is_part_of_the_text() {
    assertThat(parse("https://example.org BROKEN: it").content().text())
        .isEqualTo("https://example.org BROKEN: it");
  }

  @Test
  void an_age_bounds_from_either_side() {
    JobFilter filter = parse("age:>2d age:<1w");
    assertThat(filter.before()).isEqualTo(JobCursor.at(NOW.minus(Duration.ofDays(2))));
    assertThat(filter.from()).isEqualTo(JobCursor.at(NOW.minus(Duration.ofDays(7))));
    assertThat(parse("age:<999999999w").from()).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"state:gone", "age:1h", "age:<1y", "kind:", "payload.:1", "payload.a..b:1"})
  void an_invalid_search_is_refused(String search) {
    assertThatThrownBy(() -> parse(search))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.BAD_SEARCH));
  }

  @Test
  void a_content_filter_round_trips_as_a_search() {
    JobContent content =
        parse("code:X failure:0123456789abcdef payload.a.b:7 two  words \"c: d\"").content();
    assertThat(parse(SearchSyntax.text(content)).content()).isEqualTo(content);
  }
}
