package dev.holdfast.queue.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApiKeysTest extends QueueFixture {
  private void create(String id, @Nullable Duration lifetime) {
    admin.createKey(
        new ApiKey(id, "name of " + id, Role.OPERATOR, "acme", Instant.EPOCH, null, null),
        "digest of " + id,
        lifetime);
  }

  @Test
  void a_key_is_found_with_its_digest_by_its_id() {
    create("a", null);
    KnownKey known = admin.validKey("a").orElseThrow();
    assertThat(known.digest()).isEqualTo("digest of a");
    assertThat(known.key().name()).isEqualTo("name of a");
    assertThat(known.key().role()).isEqualTo(Role.OPERATOR);
    assertThat(known.key().tenant()).isEqualTo("acme");
    assertThat(known.key().createdAt()).isAfter(Instant.EPOCH);
    assertThat(known.key().expiresAt()).isNull();
    assertThat(admin.validKey("b")).isEmpty();
  }

  @Test
  void a_repeated_creation_makes_one_key_and_another_key_cannot_take_its_id() {
    create("a", null);
    create("a", null);
    assertThat(admin.keys()).hasSize(1);
    assertThatThrownBy(
            () ->
                admin.createKey(
                    new ApiKey("a", "x", Role.ADMIN, null, Instant.EPOCH, null, null),
                    "another digest",
                    null))
        .isInstanceOf(IllegalStateException.class);
    assertThat(admin.validKey("a").orElseThrow().key().role()).isEqualTo(Role.OPERATOR);
  }

  @Test
  void a_key_is_valid_until_it_expires() {
    create("a", Duration.ofHours(1));
    assertThat(admin.validKey("a")).isPresent();
    assertThat(admin.hasKeys()).isTrue();
    db.sql("UPDATE holdfast.api_key SET expires_at = clock_timestamp()");
    assertThat(admin.validKey("a")).isEmpty();
    assertThat(admin.hasKeys()).isFalse();
    assertThat(admin.keys()).hasSize(1);
  }

  @Test
  void a_revocation_can_be_moved_earlier_but_not_later() {
    create("a", null);
    assertThat(admin.revokeKey("a", Duration.ofHours(1))).isTrue();
    assertThat(admin.validKey("a")).isPresent();
    Instant first = admin.keys().getFirst().revokedAt();
    assertThat(admin.revokeKey("a", Duration.ofHours(9))).isTrue();
    assertThat(admin.keys().getFirst().revokedAt()).isEqualTo(first);
    assertThat(admin.revokeKey("a", Duration.ZERO)).isTrue();
    assertThat(admin.validKey("a")).isEmpty();
    assertThat(admin.revokeKey("a", Duration.ZERO)).isFalse();
    assertThat(admin.revokeKey("b", Duration.ZERO)).isFalse();
  }

  @Test
  void a_rotated_key_has_the_rights_and_expiry_of_the_old_one() {
    create("a", Duration.ofHours(1));
    ApiKey old = admin.keys().getFirst();
    ApiKey fresh = admin.rotateKey("a", "b", "digest of b", Duration.ofMinutes(5)).orElseThrow();
    assertThat(fresh)
        .isEqualTo(
            new ApiKey(
                "b",
                old.name(),
                old.role(),
                old.tenant(),
                fresh.createdAt(),
                old.expiresAt(),
                null));
    assertThat(admin.validKey("b").orElseThrow()).isEqualTo(new KnownKey(fresh, "digest of b"));
    assertThat(admin.validKey("a").orElseThrow().key().revokedAt())
        .isAfter(fresh.createdAt().plus(Duration.ofMinutes(4)));
  }

  @Test
  void a_repeated_rotation_returns_the_same_key() {
    create("a", null);
    ApiKey fresh = admin.rotateKey("a", "b", "digest of b", Duration.ZERO).orElseThrow();
    assertThat(admin.rotateKey("a", "b", "digest of b", Duration.ZERO)).contains(fresh);
    assertThat(admin.keys()).hasSize(2);
    assertThat(admin.validKey("a")).isEmpty();
  }

  @Test
  void an_invalid_key_is_not_rotated() {
    assertThat(admin.rotateKey("none", "b", "digest", Duration.ZERO)).isEmpty();
    create("revoked", null);
    admin.revokeKey("revoked", Duration.ZERO);
    assertThat(admin.rotateKey("revoked", "b", "digest", Duration.ZERO)).isEmpty();
    create("expired", Duration.ofHours(1));
    db.sql("UPDATE holdfast.api_key SET expires_at = clock_timestamp() WHERE id = 'expired'");
    assertThat(admin.rotateKey("expired", "b", "digest", Duration.ZERO)).isEmpty();
    assertThat(admin.keys()).hasSize(2);
  }

  @Test
  void an_invalid_lifetime_or_overlap_is_refused() {
    assertThatThrownBy(() -> create("a", Duration.ZERO)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> admin.rotateKey("a", "b", "digest", Duration.ofDays(31)))
        .isInstanceOf(RefusedException.class);
  }
}
