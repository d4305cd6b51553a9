package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.Role.Permission;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts and ends sessions of the page. */
public final class SessionApi {
  private final Authenticator authenticator;
  private final Sessions sessions;
  private final boolean secure;

  /**
   * @param secure whether browsers reach this server only by TLS
   */
  public SessionApi(Authenticator authenticator, Sessions sessions, boolean secure) {
    this.authenticator = authenticator;
    this.sessions = sessions;
    this.secure = secure;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/session", Guard.OPEN, this::show),
        Route.post("/v1/session", Guard.OPEN, this::begin).maxBody(Route.SMALL),
        Route.delete("/v1/session", Guard.OPEN, this::end));
  }

  /** The API key with its secret. */
  public record SessionRequest(String key) {
    public SessionRequest {
      Wire.present("key", key);
    }

    @Override
    public String toString() {
      return "a key";
    }
  }

  /** Answers 200 without a session too: the page asks before it knows whether there is one. */
  private Answer show(Call call) {
    Caller caller;
    try {
      caller = authenticator.caller(call.shown());
    } catch (Problem refused) {
      if (refused.status() != 401) {
        throw refused;
      }
      return Answer.ok(Wire.object().put("signedIn", false));
    }
    return Answer.ok(shape(caller, caller.until()));
  }

  private Answer begin(Call call) {
    String key = call.body(SessionRequest.class).key().strip();
    Caller caller =
        authenticator.caller(
            new Authenticator.Shown(Optional.of("Bearer " + key), Optional.empty(), call.peer()));
    if (!caller.role().may(Permission.READ)) {
      throw new Problem(403, "forbidden", "a key of role worker cannot read, so it cannot sign in");
    }
    Sessions.Session session = sessions.begin(caller.key());
    return Answer.ok(shape(caller, session.until()))
        .header("Set-Cookie", cookie(call, sessions.signed(session), Sessions.LASTS.toSeconds()));
  }

  private Answer end(Call call) {
    return Answer.ok(Wire.object().put("signedIn", false))
        .header("Set-Cookie", cookie(call, "", 0));
  }

  private String cookie(Call call, String value, long seconds) {
    return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s"
        .formatted(
            Sessions.cookieName(call.header("Host")), value, seconds, secure ? "; Secure" : "");
  }

  private static ObjectNode shape(Caller caller, @Nullable Instant until) {
    ObjectNode node =
        Wire.object()
            .put("signedIn", true)
            .put("name", caller.name())
            .put("role", caller.role().word())
            .put("tenant", caller.tenant().nameOrNull())
            .put("expiresAt", until == null ? null : until.toString());
    ArrayNode permissions = node.putArray("permissions");
    for (Permission permission : Permission.values()) {
      if (caller.role().may(permission)) {
        permissions.add(permission.name().toLowerCase(Locale.ROOT));
      }
    }
    return node;
  }
}
