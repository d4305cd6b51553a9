package dev.holdfast.server.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.contract.token.TokenException;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.admin.KnownKey;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the caller: by an API key, by the session cookie of the page, or by a task token.
 *
 * <p>A server on loopback whose database has no keys accepts every caller. From the first key on,
 * every caller needs one. Keys are cached for a second, so a revoked key may work that much longer.
 * What a request gets after it has waited is not given by the cache: {@link #authenticateAgain}.
 */
public final class Authenticator {
  private static final Duration CACHED_FOR = Duration.ofSeconds(1);
  private static final int MOST_CACHED = 10_000;

  /**
   * How long after the end of an attempt its expired token is still answered, so that a worker
   * which repeats its last call learns what became of it.
   */
  private static final Duration ANSWERED_FOR = Duration.ofHours(1);

  private static final String ANY = "any";
  private static final String BEARER = "Bearer ";

  private final Admin admin;
  private final TaskTokens tokens;
  private final Sessions sessions;
  private final BiPredicate<Lease, Duration> heldWithin;
  private final boolean loopback;
  private final RateLimiter requests;
  private final RateLimiter guesses = new RateLimiter(20, System::nanoTime);
  private final Cache<String, Optional<KnownKey>> keys =
      Caffeine.newBuilder().expireAfterWrite(CACHED_FOR).maximumSize(MOST_CACHED).build();

  /** Has one entry, {@link #ANY}. */
  private final LoadingCache<String, Boolean> hasKeys;

  /**
   * @param heldWithin whether an attempt holds its job, or did less than this long ago
   */
  public Authenticator(
      Admin admin,
      TaskTokens tokens,
      Sessions sessions,
      ServerOptions options,
      BiPredicate<Lease, Duration> heldWithin) {
    this.admin = admin;
    this.tokens = tokens;
    this.sessions = sessions;
    this.heldWithin = heldWithin;
    this.loopback = options.isLoopback();
    this.requests = new RateLimiter(options.requestsPerSecond(), System::nanoTime);
    this.hasKeys = Caffeine.newBuilder().expireAfterWrite(CACHED_FOR).build(any -> admin.hasKeys());
  }

  /** Drops cached keys; the next request reads them from the database. */
  public void forget() {
    keys.invalidateAll();
    hasKeys.invalidateAll();
  }

  /**
   * The credentials of a request.
   *
   * @param session the cookie of the page
   * @param peer the address it came from
   */
  public record Shown(Optional<String> authorization, Optional<String> session, String peer) {
    /** Whether the cookie, which browsers add to requests of any page, is all there is. */
    public boolean isByCookie() {
      return authorization.isEmpty() && session.isPresent();
    }
  }

  public Caller caller(Shown shown) {
    if (shown.authorization().isPresent()) {
      return byKey(shown.authorization().get(), shown.peer());
    }
    Caller signedIn = shown.session().map(this::bySession).orElse(null);
    if (signedIn != null) {
      return signedIn;
    }
    if (loopback && !hasKeys()) {
      return Caller.OWNER;
    }
    throw unauthorized("key_missing", "an API key is needed: Authorization: Bearer hf_...");
  }

  /**
   * For a request that has waited: reads the key from the database, and refuses a caller whose key
   * was revoked, replaced or expired meanwhile, or whose session has ended.
   */
  public void authenticateAgain(Caller caller) {
    if (caller.key().isEmpty()) {
      hasKeys.invalidate(ANY);
    } else {
      keys.invalidate(caller.key());
    }
    if (!isStillGood(caller)) {
      throw unauthorized(
          "key_invalid",
          "while the request waited, its API key was revoked or expired, or its session ended");
    }
  }

  /**
   * Whether the key has not been revoked since, and the session has not ended. What was read within
   * the last second is not read again.
   */
  public boolean isStillGood(Caller caller) {
    if (caller.key().isEmpty()) {
      return !hasKeys();
    }
    return !sessions.isOver(caller.until()) && known(caller.key()).isPresent();
  }

  private Caller byKey(String authorization, String peer) {
    Secrets.Parts shown = Secrets.parse(bearer(authorization, "key_invalid"));
    KnownKey known = shown == null ? null : known(shown.id()).orElse(null);
    if (shown == null || known == null || !Secrets.matches(shown.secret(), known.digest())) {
      if (!guesses.allows(peer)) {
        throw limited();
      }
      throw unauthorized("key_invalid", "the API key is unknown, revoked or expired");
    }
    return admitted(known.key(), null);
  }

  /** Null if the session has ended, or its key is not valid any more. */
  private @Nullable Caller bySession(String cookie) {
    Sessions.Session session = sessions.read(cookie).orElse(null);
    KnownKey known = session == null ? null : known(session.key()).orElse(null);
    return session == null || known == null ? null : admitted(known.key(), session.until());
  }

  private Caller admitted(ApiKey key, @Nullable Instant until) {
    if (!requests.allows(key.id())) {
      throw limited();
    }
    return new Caller(key.id(), key.name(), key.role(), Tenant.of(key.tenant()), until);
  }

  public TaskTokens.Read token(Optional<String> authorization, String task) {
    if (authorization.isEmpty()) {
      throw unauthorized(
          "token_missing", "the task's token is needed: Authorization: Bearer <taskToken>");
    }
    TaskTokens.Read read = read(bearer(authorization.get(), "token_invalid"));
    if (!read.scope().task().toString().equalsIgnoreCase(task)) {
      throw new Problem(403, "token_scope", "this token is for another task");
    }
    return read;
  }

  private TaskTokens.Read read(String token) {
    try {
      return tokens.read(token);
    } catch (TokenException refused) {
      if (refused.reason() == TokenException.Reason.EXPIRED) {
        TaskTokens.Read held = held(token);
        if (held != null) {
          return held;
        }
      }
      String error =
          switch (refused.reason()) {
            case INVALID -> "token_invalid";
            case EXPIRED -> "token_expired";
            case NOT_YET_VALID -> "token_not_yet_valid";
          };
      throw unauthorized(error, String.valueOf(refused.getMessage()));
    }
  }

  /**
   * An expired token is good while its attempt holds the task: not every worker takes the fresh
   * tokens that it is sent, and during an outage none can. Such a token is good for one attempt, of
   * which every write is fenced; when that has ended, it can change nothing. Null for others.
   */
  private TaskTokens.@Nullable Read held(String token) {
    try {
      TaskTokens.Read read = tokens.readExpired(token);
      return heldWithin.test(read.scope().lease(), ANSWERED_FOR) ? read : null;
    } catch (TokenException invalid) {
      return null;
    }
  }

  private static String bearer(String authorization, String otherwise) {
    if (!authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      throw unauthorized(otherwise, "the Authorization header must be: Bearer ...");
    }
    return authorization.substring(BEARER.length()).strip();
  }

  private Optional<KnownKey> known(String id) {
    return keys.get(id, admin::validKey);
  }

  private boolean hasKeys() {
    return hasKeys.get(ANY);
  }

  private static Problem unauthorized(String error, String message) {
    return new Problem(401, error, message).header("WWW-Authenticate", "Bearer");
  }

  private static Problem limited() {
    return new Problem(429, "rate_limited", "too many requests: wait a moment")
        .header("Retry-After", "1");
  }
}
