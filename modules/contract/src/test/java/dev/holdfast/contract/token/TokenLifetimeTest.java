package dev.holdfast.contract.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TokenLifetimeTest {
  private static final Instant NOW = Instant.parse("2025-01-15T10:00:00Z");

  @Test
  void it_is_one_hour_by_default_and_two_hours_at_most() {
    assertThat(TokenLifetime.DEFAULT.ttl()).isEqualTo(Duration.ofHours(1));
    assertThat(TokenLifetime.LONGEST).hasSeconds(7_200);
    assertThat(new TokenLifetime(Duration.ofHours(2)).ttl()).isEqualTo(Duration.ofHours(2));
    assertThatThrownBy(() -> new TokenLifetime(Duration.ofSeconds(7_201)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("TOKEN_TTL_SECONDS")
        .hasMessageContaining("7200");
    assertThatThrownBy(() -> new TokenLifetime(Duration.ZERO)).isInstanceOf(RefusedException.class);
  }

  @Test
  void a_deadline_can_only_lengthen_it() {
    TokenLifetime lifetime = new TokenLifetime(Duration.ofMinutes(10));
    assertThat(lifetime.end(NOW, null)).isEqualTo(NOW.plusSeconds(600));
    assertThat(lifetime.end(NOW, NOW.minusSeconds(5))).isEqualTo(NOW.plusSeconds(600));
    assertThat(lifetime.end(NOW, NOW.plusSeconds(700))).isEqualTo(NOW.plusSeconds(701));
    assertThat(lifetime.end(NOW, NOW.plusSeconds(90_000))).isEqualTo(NOW.plusSeconds(7_200));
  }

  @Test
  void a_token_is_due_for_renewal_after_half_of_its_lifetime() {
    TaskTokens.Read token =
        new TaskTokens.Read(
            new TaskScope("t", "w", JobId.next(), JobId.next(), 1), NOW, NOW.plusSeconds(100));
    assertThat(TokenLifetime.DEFAULT.needsRenewal(token, NOW.plusSeconds(50))).isFalse();
    assertThat(TokenLifetime.DEFAULT.needsRenewal(token, NOW.plusSeconds(51))).isTrue();
  }
}
