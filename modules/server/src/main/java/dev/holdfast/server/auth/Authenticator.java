package dev.holdfast.server.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.contract.token.TokenException;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.queue.Access;
import dev.holdfast.queue.admin.KnownKey;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the caller: by an API key, by the session cookie of the page, or by a task token.
 *
 * <p>A server on loopback whose database has no keys accepts every caller. From the first key on,
 * every caller needs one. Keys are cached for a few seconds, so a revoked key may work that much
 * longer.
 */
public final class Authenticator {
  private static final Duration CACHED_FOR = Duration.ofSeconds(3);
  private static final int MOST_CACHED = 10_000;
  private static final String ANY = "any";
  private static final String BEARER = "Bearer ";

  private final Access access;
  private final TaskTokens tokens;
  private final Sessions sessions;
  private final Function<Lease, Optional<Instant>> lastHeartbeat;
  private final boolean loopback;
  private final RateLimiter requests;
  private final RateLimiter guesses = new RateLimiter(20, System::nanoTime);
  private final Cache<String, Optional<KnownKey>> keys =
      Caffeine.newBuilder().expireAfterWrite(CACHED_FOR).maximumSize(MOST_CACHED).build();

  /** Has one entry, {@link #ANY}. */
  private final LoadingCache<String, Boolean> hasKeys;

  /**
   * @param lastHeartbeat of an attempt that runs
   */
  public Authenticator(
      Access access,
      TaskTokens tokens,
      Sessions sessions,
      ServerOptions options,
      Function<Lease, Optional<Instant>> lastHeartbeat) {
    this.access = access;
    this.tokens = tokens;
    this.sessions = sessions;
    this.lastHeartbeat = lastHeartbeat;
    this.loopback = options.isLoopback();
    this.requests = new RateLimiter(options.requestsPerSecond(), System::nanoTime);
    this.hasKeys =
        Caffeine.newBuilder().expireAfterWrite(CACHED_FOR).build(any -> access.hasKeys());
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

  /** Whether the key has not been revoked since, and the session has not ended. */
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
    return new Caller(key.id(), key.name(), key.role(), key.tenant(), until);
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
        TaskTokens.Read outlived = outlived(token);
        if (outlived != null) {
          return outlived;
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
   * An expired token whose attempt still runs and sent no heartbeat since the token expired: the
   * server could not be reached for so long, and no heartbeat could bring a fresh one. As soon as
   * one has, the old token is good for nothing. Null for others.
   */
  private TaskTokens.@Nullable Read outlived(String token) {
    try {
      TaskTokens.Read read = tokens.readExpired(token);
      return lastHeartbeat
          .apply(read.scope().lease())
          .filter(heard -> !heard.isAfter(read.expiresAt()))
          .map(heard -> read)
          .orElse(null);
    } catch (TokenException longAgo) {
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
    return keys.get(id, access::validKey);
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
