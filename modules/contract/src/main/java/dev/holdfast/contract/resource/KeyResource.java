package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An API key without its secret, of which only a digest is stored.
 *
 * @param tenant the tenant whose jobs it sees; null is all tenants
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record KeyResource(
    String id,
    String name,
    String role,
    @Nullable String tenant,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable Instant revokedAt) {
  public KeyResource {
    Wire.present("id", id);
    Wire.present("name", name);
    Wire.present("role", role);
    Wire.present("createdAt", createdAt);
  }

  public static KeyResource of(ApiKey key) {
    return new KeyResource(
        key.id(),
        key.name(),
        key.role().word(),
        key.tenant(),
        key.createdAt(),
        key.expiresAt(),
        key.revokedAt());
  }

  public ApiKey key() {
    return new ApiKey(id, name, Role.of(role), tenant, createdAt, expiresAt, revokedAt);
  }

  /** All keys. */
  public record Keys(List<KeyResource> keys) {
    public Keys {
      keys = List.copyOf(Wire.present("keys", keys));
    }
  }

  /**
   * A key that was just made.
   *
   * @param key what callers send; shown in this answer only
   */
  public record Created(
      String id,
      String key,
      @Nullable String name,
      @Nullable String role,
      @Nullable String tenant) {
    public Created {
      Wire.present("id", id);
      Wire.present("key", key);
    }

    public static Created of(KeyOperator.NewKey key) {
      return new Created(key.id(), key.key(), key.name(), key.role().word(), key.tenant());
    }

    public KeyOperator.NewKey made() {
      return new KeyOperator.NewKey(
          id, key, Wire.present("name", name), Role.of(Wire.present("role", role)), tenant);
    }

    @Override
    public String toString() {
      return "key " + id;
    }
  }
}
