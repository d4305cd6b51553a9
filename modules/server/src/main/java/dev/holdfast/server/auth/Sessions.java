package dev.holdfast.server.auth;

import com.auth0.jwt.interfaces.DecodedJWT;
import dev.holdfast.contract.token.SignedTokens;
import dev.holdfast.contract.token.SigningKeys;
import dev.holdfast.contract.token.TokenException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of the page. The cookie is a signed token with the id of the API key and the end of the
 * session; the key's secret is not in it. The server stores nothing, so the session is valid at
 * every server of the database, and it ends with its key.
 */
public final class Sessions {
  public static final Duration LASTS = Duration.ofHours(12);

  private static final String AUDIENCE = "holdfast:session";

  private final SignedTokens tokens;
  private final InstantSource clock;

  /**
   * @param key the id of the key that was shown
   */
  public record Session(String key, Instant until) {}

  public Sessions(SigningKeys keys, InstantSource clock) {
    this.tokens = new SignedTokens("session", AUDIENCE, Duration.ZERO, keys, clock);
    this.clock = clock;
  }

  public Session begin(String key) {
    return new Session(key, Instant.ofEpochSecond(clock.instant().plus(LASTS).getEpochSecond()));
  }

  /** The session as the value of a cookie. */
  public String signed(Session session) {
    return tokens.sign(token -> token.withSubject(session.key()).withExpiresAt(session.until()));
  }

  /** The session of a cookie; none if the cookie is not valid or the session has ended. */
  Optional<Session> read(String cookie) {
    try {
      DecodedJWT token = tokens.verified(cookie);
      String key = token.getSubject();
      Instant until = token.getExpiresAtAsInstant();
      return key == null || until == null || isOver(until)
          ? Optional.empty()
          : Optional.of(new Session(key, until));
    } catch (TokenException refused) {
      return Optional.empty();
    }
  }

  /**
   * @param until null is for ever
   */
  boolean isOver(@Nullable Instant until) {
    return until != null && !clock.instant().isBefore(until);
  }

  /**
   * Browsers share cookies between all ports of a host, so the port is part of the name: otherwise
   * two servers on one machine would overwrite each other's sessions.
   */
  public static String cookieName(Optional<String> host) {
    String name = host.orElse("");
    int colon = name.lastIndexOf(':');
    String port = colon > name.lastIndexOf(']') ? name.substring(colon + 1) : "";
    return port.matches("[0-9]{1,5}") ? "holdfast_session_" + port : "holdfast_session";
  }

  /** The value of this server's cookie. */
  public static Optional<String> cookie(Optional<String> cookies, Optional<String> host) {
    String prefix = cookieName(host) + "=";
    for (String each : cookies.orElse("").split(";", -1)) {
      if (each.strip().startsWith(prefix)) {
        return Optional.of(each.strip().substring(prefix.length()));
      }
    }
    return Optional.empty();
  }
}
