package dev.holdfast.queue.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenKeysTest extends QueueFixture {
  private List<String> inUse() {
    return admin.tokenKeys().stream().map(TokenKey::kid).toList();
  }

  @Test
  void servers_that_start_concurrently_create_one_key() {
    assertThat(inUse()).isEmpty();
    Parallel.run(
        8,
        i ->
            () -> {
              admin.firstTokenKey(new TokenKey("k" + i, "secret"));
              return i;
            });
    assertThat(inUse()).hasSize(1);
    admin.firstTokenKey(new TokenKey("late", "secret"));
    assertThat(inUse()).doesNotContain("late");
  }

  @Test
  void a_new_key_comes_first_and_older_keys_stay_valid_for_a_while() {
    admin.firstTokenKey(new TokenKey("one", "s1"));
    admin.rotateTokenKey(new TokenKey("two", "s2"), Duration.ofHours(1));
    assertThat(inUse()).containsExactly("two", "one");
    db.sql("UPDATE holdfast.signing_key SET retired_at = now() - interval '1 s' WHERE kid = 'one'");
    assertThat(inUse()).containsExactly("two");
    admin.rotateTokenKey(new TokenKey("three", "s3"), Duration.ofHours(1));
    assertThat(inUse()).containsExactly("three", "two");
    assertThat(db.count("SELECT count(*) FROM holdfast.signing_key")).isEqualTo(3);
    // It verifies links in mailboxes for thirty days more.
    db.sql(
        "UPDATE holdfast.signing_key SET retired_at = now() - interval '31 d' WHERE kid = 'one'");
    admin.rotateTokenKey(new TokenKey("four", "s4"), Duration.ofHours(1));
    assertThat(inUse()).containsExactly("four", "three", "two");
    assertThat(db.count("SELECT count(*) FROM holdfast.signing_key")).isEqualTo(3);
  }

  @Test
  void a_repeated_rotation_changes_nothing() {
    admin.firstTokenKey(new TokenKey("one", "s1"));
    admin.rotateTokenKey(new TokenKey("two", "s2"), Duration.ofHours(1));
    admin.rotateTokenKey(new TokenKey("two", "s2"), Duration.ofHours(1));
    assertThat(inUse()).containsExactly("two", "one");
  }
}
