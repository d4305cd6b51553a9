package dev.holdfast.queue.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.RetryDefaults;
import org.junit.jupiter.api.Test;

class EndingTest {
  @Test
  void every_settlement_has_one_row() {
    assertThat(Ending.table(new Backoff(RetryDefaults.NONE)))
        .extracting(Ending::type)
        .containsExactlyInAnyOrder(castAll(Settlement.class.getPermittedSubclasses()));
  }

  @SuppressWarnings("unchecked")
  private static <T> T[] castAll(Class<?>[] types) {
    return (T[]) types;
  }
}
