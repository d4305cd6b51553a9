package dev.holdfast.operate;

import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.admin.TokenKey;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keys, on the database. */
final class LocalKeys implements KeyOperator {
  private final Admin admin;
  private final Principal caller;

  LocalKeys(Admin admin, Principal caller) {
    this.admin = admin;
    this.caller = caller;
  }

  private Admin admin() {
    caller.mustSeeEveryTenant("a key");
    return admin;
  }

  @Override
  public List<ApiKey> list() {
    return admin().keys();
  }

  @Override
  public NewKey create(
      String name, Role role, @Nullable String tenant, @Nullable Duration lifetime) {
    Secrets.Parts parts = Secrets.next();
    // The database knows when.
    ApiKey key = new ApiKey(parts.id(), name, role, tenant, Instant.EPOCH, null, null);
    admin().createKey(key, parts.digest(), lifetime);
    return made(parts, key);
  }

  private static NewKey made(Secrets.Parts parts, ApiKey key) {
    return new NewKey(parts.id(), parts.text(), key.name(), key.role(), key.tenant());
  }

  @Override
  public boolean revoke(String id) {
    return admin().revokeKey(id, Duration.ZERO);
  }

  @Override
  public Optional<NewKey> rotate(String id, Duration overlap) {
    Secrets.Parts parts = Secrets.next();
    return admin().rotateKey(id, parts.id(), parts.digest(), overlap).map(key -> made(parts, key));
  }

  @Override
  public String rotateSigning() {
    TokenKey key = TokenKey.next();
    admin().rotateTokenKey(key, TokenLifetime.KEY_OVERLAP);
    return key.kid();
  }
}
