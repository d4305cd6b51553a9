package dev.holdfast.server.auth;

import dev.holdfast.contract.token.SigningKey;
import dev.holdfast.contract.token.SigningKeys;
import dev.holdfast.queue.Access;
import dev.holdfast.queue.admin.TokenKey;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The keys that task tokens are signed with, as the database has them.
 *
 * <p>Another server may have made a new one a moment ago, so a name that is not known is looked for
 * once more, though not often: anybody can make up names.
 */
public final class Keyring implements SigningKeys {
  private static final Duration SELDOM = Duration.ofSeconds(1);

  private final Access access;
  private volatile Map<String, SigningKey> keys = Map.of();
  private volatile SigningKey current;
  private long loadedAt;

  public Keyring(Access access) {
    this.access = access;
    if (access.tokenKeys().isEmpty()) {
      access.firstTokenKey(TokenKey.next());
    }
    this.current = load();
  }

  /** Reads the keys again. */
  public synchronized SigningKey load() {
    List<TokenKey> inUse = access.tokenKeys();
    Map<String, SigningKey> read = new LinkedHashMap<>();
    for (TokenKey key : inUse) {
      read.put(key.kid(), new SigningKey(key.kid(), key.secret()));
    }
    keys = Map.copyOf(read);
    current = read.values().iterator().next();
    loadedAt = System.nanoTime();
    return current;
  }

  @Override
  public SigningKey current() {
    return current;
  }

  @Override
  public Optional<SigningKey> byId(String kid) {
    SigningKey known = keys.get(kid);
    if (known == null && isTimeToLook()) {
      load();
      known = keys.get(kid);
    }
    return Optional.ofNullable(known);
  }

  private synchronized boolean isTimeToLook() {
    return System.nanoTime() - loadedAt > SELDOM.toNanos();
  }
}
