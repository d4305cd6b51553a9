package dev.holdfast.queue;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.queue.admin.ApiKeys;
import dev.holdfast.queue.admin.KnownKey;
import dev.holdfast.queue.admin.RotateKey;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.queue.admin.TokenKeys;
import dev.holdfast.queue.jdbc.Database;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** API keys, and the keys that sign task tokens. */
public final class Access {
  private final Database database;

  Access(Database database) {
    this.database = database;
  }

  public void createKey(ApiKey key, String digest, @Nullable Duration lifetime) {
    ApiKey.checkedName(key.name());
    ApiKey.checkedTenant(key.tenant());
    ApiKey.checkedLifetime(lifetime);
    boolean created =
        database.transact(
            "createKey",
            connection ->
                ApiKeys.create(
                    connection, key.id(), key.name(), key.role(), key.tenant(), digest, lifetime));
    if (!created) {
      throw new IllegalStateException("there is another key " + key.id());
    }
  }

  /** False when there is no such key, or it is no longer valid. */
  public boolean revokeKey(String id, Duration after) {
    return database.run("revokeKey", connection -> ApiKeys.revoke(connection, id, after));
  }

  /**
   * Replaces a key by one with the same rights and the same end; the old one stays valid as long as
   * the overlap lasts.
   *
   * @param id of the new key
   * @param digest of the new key's secret
   * @return empty when there is no such key, or it is not valid any more
   */
  public Optional<ApiKey> rotateKey(String old, String id, String digest, Duration overlap) {
    ApiKey.checkedOverlap(overlap);
    return database.run(
        "rotateKey", connection -> RotateKey.rotate(connection, old, id, digest, overlap));
  }

  public List<ApiKey> keys() {
    return database.run("keys", ApiKeys::list);
  }

  public Optional<KnownKey> validKey(String id) {
    return database.run("validKey", connection -> ApiKeys.valid(connection, id));
  }

  public boolean hasKeys() {
    return database.run("hasKeys", ApiKeys::any);
  }

  /** The newest first. */
  public List<TokenKey> tokenKeys() {
    return database.run("tokenKeys", TokenKeys::inUse);
  }

  /** Stores this key unless there is one already. */
  public void firstTokenKey(TokenKey key) {
    database.transact("firstTokenKey", connection -> TokenKeys.first(connection, key));
  }

  public void rotateTokenKey(TokenKey key, Duration overlap) {
    database.transact("rotateTokenKey", connection -> TokenKeys.rotate(connection, key, overlap));
  }
}
