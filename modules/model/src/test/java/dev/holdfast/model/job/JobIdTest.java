package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Refusal;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobIdTest {
  @Test
  void between_an_id_and_the_following_one_there_is_none() {
    JobId last = JobId.parse("01a1dd46-efa0-7231-ffff-ffffffffffff");
    assertThat(last.following())
        .isEqualTo(JobId.parse("01a1dd46-efa0-7232-0000-000000000000"))
        .isGreaterThan(last);
    assertThat(JobId.parse("01a1dd46-efa0-7231-7fff-ffffffffffff").following())
        .isEqualTo(JobId.parse("01a1dd46-efa0-7231-8000-000000000000"));
  }

  @Test
  void an_id_is_parsed_from_its_own_text() {
    JobId id = JobId.next();
    assertThat(JobId.parse(id.toString())).isEqualTo(id);
    assertThat(JobId.parse(id.toString().toUpperCase(Locale.ROOT))).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1-1-1-1-1",
        "not-a-job-id",
        "0190b5c3-1234-7abc-8def-0123456789ab ",
        "0190b5c3-1234-7abc-8def-0123456789ag",
        "0190b5c31-234-7abc-8def-0123456789ab",
        "+190b5c3-1234-7abc-8def-0123456789ab",
        "0190b5c312347abc8def0123456789ab",
        "{0190b5c3-1234-7abc-8def-0123456789a}",
      })
  void any_other_text_is_refused(String text) {
    assertRefused(Refusal.BAD_ID, () -> JobId.parse(text)).hasMessageContaining("is not a job id");
  }

  @Test
  void a_long_text_is_not_repeated_in_full() {
    assertRefused(Refusal.BAD_ID, () -> JobId.parse("x".repeat(10_000)))
        .message()
        .hasSizeLessThan(200);
  }

  @Test
  void ids_are_ordered_as_unsigned_bytes() {
    JobId low = JobId.parse("0fffffff-ffff-7fff-bfff-ffffffffffff");
    JobId high = JobId.parse("f0000000-0000-7000-8000-000000000000");
    JobId tail = JobId.parse("f0000000-0000-7000-f000-000000000000");
    assertThat(low).isLessThan(high);
    assertThat(high).isLessThan(tail);
    assertThat(high).isEqualByComparingTo(JobId.parse(high.toString()));
  }
}
