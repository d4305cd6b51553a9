package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.queue.admin.TokenKey;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code keys}. */
class KeysCommandTest extends OperatorCommandFixture {
  @Test
  void keys_are_created_listed_rotated_and_revoked_and_shown_once() throws IOException {
    assertThat(
            run("keys", "create", "--role", "operator", "--tenant", "acme", "--expires-in", "90d"))
        .isZero();
    String key = said().strip();
    assertThat(key).matches("hf_[0-9a-f]{12}_[A-Za-z0-9_-]{43}");
    String id = key.substring(3, 15);
    assertThat(complained()).contains(id).doesNotContain(key);

    assertThat(run("keys", "list", "--json")).isZero();
    JsonNode listed = keyOf(id);
    assertThat(listed.get("role").asText()).isEqualTo("operator");
    assertThat(listed.get("tenant").asText()).isEqualTo("acme");
    assertThat(listed.get("expiresAt").isNull()).isFalse();
    assertThat(said()).doesNotContain(key.substring(16));

    assertThat(run("keys", "rotate", id, "--json")).isZero();
    String next = json().get("id").asText();
    assertThat(json().get("key").asText()).startsWith("hf_" + next + "_").isNotEqualTo(key);
    assertThat(run("keys", "list", "--json")).isZero();
    assertThat(keyOf(next).get("tenant").asText()).isEqualTo("acme");
    assertThat(keyOf(next).get("role").asText()).isEqualTo("operator");
    assertThat(keyOf(id).get("revokedAt").isNull()).isFalse();
    assertThat(holdfast.store().admin().validKey(id)).as("during the overlap").isPresent();

    assertThat(run("keys", "revoke", id)).isZero();
    assertThat(holdfast.store().admin().validKey(id)).isEmpty();
    assertThat(run("keys", "revoke", id)).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("keys", "rotate", id)).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("keys", "list")).isZero();
    assertThat(said()).contains(next).contains("revoked");
  }

  private JsonNode keyOf(String id) throws IOException {
    for (JsonNode key : json()) {
      if (key.get("id").asText().equals(id)) {
        return key;
      }
    }
    throw new AssertionError("no key " + id + " in " + said());
  }

  @Test
  void the_key_that_signs_task_tokens_is_rotated() throws IOException {
    assertThat(run("keys", "rotate", "--signing")).isZero();
    List<String> first = holdfast.store().admin().tokenKeys().stream().map(TokenKey::kid).toList();
    assertThat(run("keys", "rotate", "--signing")).isZero();
    List<String> second = holdfast.store().admin().tokenKeys().stream().map(TokenKey::kid).toList();
    assertThat(second).hasSize(first.size() + 1).endsWith(first.toArray(String[]::new));
    assertThat(said()).contains("new key").doesNotContain(second.getFirst());
    assertThat(run("keys", "rotate", "--signing", "--overlap", "1h")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void an_invalid_role_lifetime_or_tenant_of_a_key_is_refused() throws IOException {
    assertThat(run("keys", "create")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "create", "--role", "king")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "create", "--role", "viewer", "--expires-in", "0s"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("keys", "rotate", "hf_0123456789ab", "--overlap", "31d"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("keys", "create", "--role", "viewer", "--tenant", "a b"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("keys", "rotate")).isEqualTo(ExitCode.USAGE);
    assertThat(run("keys", "rotate", "x", "--signing")).isEqualTo(ExitCode.USAGE);
  }
}
