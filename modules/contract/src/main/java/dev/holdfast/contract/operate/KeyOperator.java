package dev.holdfast.contract.operate;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What an operator of all tenants can do with API keys and the keys that sign task tokens. */
public interface KeyOperator {
  List<ApiKey> list();

  /**
   * @param tenant whose jobs it sees; null is everybody's
   * @param lifetime null for a key without an end
   */
  NewKey create(String name, Role role, @Nullable String tenant, @Nullable Duration lifetime);

  /** False when there is no such key, or it is not valid any more. */
  boolean revoke(String id);

  /**
   * Replaces a key by a new one with the same rights and the same end; the old one is valid until
   * the overlap is over. Empty when there is no such key, or it is not valid any more.
   */
  Optional<NewKey> rotate(String id, Duration overlap);

  /** New task tokens are signed with a new key, whose id is returned; those signed stay valid. */
  String rotateSigning();

  /**
   * @param key what callers send; it cannot be read again later
   * @param tenant the only one that it sees; null is all of them
   */
  record NewKey(String id, String key, String name, Role role, @Nullable String tenant) {
    @Override
    public String toString() {
      return "key " + id;
    }
  }
}
