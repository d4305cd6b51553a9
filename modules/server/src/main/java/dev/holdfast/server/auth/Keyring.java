package dev.holdfast.server.auth;

import dev.holdfast.contract.token.SigningKey;
import dev.holdfast.contract.token.SigningKeys;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.admin.TokenKey;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The keys that tokens are signed with, loaded from the database.
 *
 * <p>Another server may have created a key since, so an unknown name makes the keys load again, at
 * most once a second: clients can send any name.
 */
public final class Keyring implements SigningKeys {
  private static final Duration LOADED_AT_MOST_EVERY = Duration.ofSeconds(1);

  private final Admin admin;
  private volatile Map<String, SigningKey> keys = Map.of();
  private volatile Map<String, SigningKey> linkKeys = Map.of();
  private volatile SigningKey current;
  private long loadedAt;

  public Keyring(Admin admin) {
    this.admin = admin;
    if (admin.tokenKeys().isEmpty()) {
      admin.firstTokenKey(TokenKey.next());
    }
    this.current = load();
  }

  /** Loads the keys again. */
  public synchronized SigningKey load() {
    Map<String, SigningKey> read = byName(admin.tokenKeys());
    keys = Map.copyOf(read);
    linkKeys = Map.copyOf(byName(admin.linkKeys()));
    current = read.values().iterator().next();
    loadedAt = System.nanoTime();
    return current;
  }

  private static Map<String, SigningKey> byName(List<TokenKey> inUse) {
    Map<String, SigningKey> read = new LinkedHashMap<>();
    for (TokenKey key : inUse) {
      read.put(key.kid(), new SigningKey(key.kid(), key.secret()));
    }
    return read;
  }

  /** For links to questions, which are still verified by a key that has retired lately. */
  public SigningKeys ofLinks() {
    return new SigningKeys() {
      @Override
      public SigningKey current() {
        return current;
      }

      @Override
      public Optional<SigningKey> byId(String kid) {
        return find(kid, () -> linkKeys);
      }
    };
  }

  @Override
  public SigningKey current() {
    return current;
  }

  @Override
  public Optional<SigningKey> byId(String kid) {
    return find(kid, () -> keys);
  }

  private Optional<SigningKey> find(String kid, Supplier<Map<String, SigningKey>> loaded) {
    SigningKey known = loaded.get().get(kid);
    if (known == null && mayLoadAgain()) {
      load();
      known = loaded.get().get(kid);
    }
    return Optional.ofNullable(known);
  }

  private synchronized boolean mayLoadAgain() {
    return System.nanoTime() - loadedAt > LOADED_AT_MOST_EVERY.toNanos();
  }
}
