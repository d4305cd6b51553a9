package dev.holdfast.queue.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApiKeysTest extends QueueFixture {
  private void create(String id, @Nullable Duration lifetime) {
    access.createKey(
        new ApiKey(id, "name of " + id, Role.OPERATOR, "acme", Instant.EPOCH, null, null),
        "digest of " + id,
        lifetime);
  }

  @Test
  void a_key_is_found_by_its_id_with_its_digest() {
    create("a", null);
    KnownKey known = access.validKey("a").orElseThrow();
    assertThat(known.digest()).isEqualTo("digest of a");
    assertThat(known.key().name()).isEqualTo("name of a");
    assertThat(known.key().role()).isEqualTo(Role.OPERATOR);
    assertThat(known.key().tenant()).isEqualTo("acme");
    assertThat(known.key().createdAt()).isAfter(Instant.EPOCH);
    assertThat(known.key().expiresAt()).isNull();
    assertThat(access.validKey("b")).isEmpty();
  }

  @Test
  void a_key_made_again_after_a_lost_answer_is_the_same_one_and_another_cannot_take_its_id() {
    create("a", null);
    create("a", null);
    assertThat(access.keys()).hasSize(1);
    assertThatThrownBy(
            () ->
                access.createKey(
                    new ApiKey("a", "x", Role.ADMIN, "*", Instant.EPOCH, null, null),
                    "another digest",
                    null))
        .isInstanceOf(IllegalStateException.class);
    assertThat(access.validKey("a").orElseThrow().key().role()).isEqualTo(Role.OPERATOR);
  }

  @Test
  void a_key_is_valid_until_it_expires() {
    create("a", Duration.ofHours(1));
    assertThat(access.validKey("a")).isPresent();
    assertThat(access.hasKeys()).isTrue();
    db.sql("UPDATE holdfast.api_key SET expires_at = clock_timestamp()");
    assertThat(access.validKey("a")).isEmpty();
    assertThat(access.hasKeys()).isFalse();
    assertThat(access.keys()).hasSize(1);
  }

  @Test
  void a_key_can_be_revoked_for_later_and_then_for_now_but_not_for_later_again() {
    create("a", null);
    assertThat(access.revokeKey("a", Duration.ofHours(1))).isTrue();
    assertThat(access.validKey("a")).isPresent();
    Instant first = access.keys().getFirst().revokedAt();
    assertThat(access.revokeKey("a", Duration.ofHours(9))).isTrue();
    assertThat(access.keys().getFirst().revokedAt()).isEqualTo(first);
    assertThat(access.revokeKey("a", Duration.ZERO)).isTrue();
    assertThat(access.validKey("a")).isEmpty();
    assertThat(access.revokeKey("a", Duration.ZERO)).isFalse();
    assertThat(access.revokeKey("b", Duration.ZERO)).isFalse();
  }
}
