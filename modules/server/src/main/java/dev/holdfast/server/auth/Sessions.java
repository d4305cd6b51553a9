package dev.holdfast.server.auth;

import dev.holdfast.contract.token.SigningKey;
import dev.holdfast.contract.token.SigningKeys;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who has signed in at the page. A cookie says which key was shown and until when that counts,
 * under a seal; the key itself is not in it. Nothing is kept, so every server of the database knows
 * it, and it ends with its key.
 */
public final class Sessions {
  public static final Duration LASTS = Duration.ofHours(12);

  private static final String PURPOSE = "session";
  private static final int MOST_CHARS = 200;

  private final SigningKeys keys;
  private final InstantSource clock;

  /**
   * @param key the id of the key that was shown
   */
  public record Session(String key, Instant until) {}

  public Sessions(SigningKeys keys, InstantSource clock) {
    this.keys = keys;
    this.clock = clock;
  }

  public Session begin(String key) {
    return new Session(key, Instant.ofEpochSecond(clock.instant().plus(LASTS).getEpochSecond()));
  }

  public String sealed(Session session) {
    SigningKey key = keys.current();
    return text(key, session) + "." + seal(key, session);
  }

  /** Nothing, if it is none of ours or has ended. */
  Optional<Session> read(String cookie) {
    String[] parts = cookie.length() > MOST_CHARS ? new String[0] : cookie.split("\\.", -1);
    if (parts.length != 4 || !parts[2].matches("[0-9]{1,11}")) {
      return Optional.empty();
    }
    Session session = new Session(parts[1], Instant.ofEpochSecond(Long.parseLong(parts[2])));
    return keys.byId(parts[0])
        .filter(key -> MessageDigest.isEqual(bytes(seal(key, session)), bytes(parts[3])))
        .filter(key -> !isOver(session.until()))
        .map(key -> session);
  }

  /**
   * @param until null is for ever
   */
  boolean isOver(@Nullable Instant until) {
    return until != null && !clock.instant().isBefore(until);
  }

  /**
   * Browsers share cookies between all ports of a host, and two servers on one machine are not to
   * sign each other's people out.
   */
  public static String cookieName(Optional<String> host) {
    String name = host.orElse("");
    int colon = name.lastIndexOf(':');
    String port = colon > name.lastIndexOf(']') ? name.substring(colon + 1) : "";
    return port.matches("[0-9]{1,5}") ? "holdfast_session_" + port : "holdfast_session";
  }

  /** What the browser shows under our name. */
  public static Optional<String> cookie(Optional<String> cookies, Optional<String> host) {
    String prefix = cookieName(host) + "=";
    for (String each : cookies.orElse("").split(";", -1)) {
      if (each.strip().startsWith(prefix)) {
        return Optional.of(each.strip().substring(prefix.length()));
      }
    }
    return Optional.empty();
  }

  private static String text(SigningKey key, Session session) {
    return key.kid() + "." + session.key() + "." + session.until().getEpochSecond();
  }

  private static String seal(SigningKey key, Session session) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(key.seal(PURPOSE, text(key, session)));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
