package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.request.KeyRequest;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.Admin;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** API keys, and the key that task tokens are signed with. */
public final class KeysApi {
  private final Operators operators;
  private final Admin admin;
  private final Authenticator authenticator;
  private final Keyring keyring;
  private final InstantSource clock;

  public KeysApi(
      Operators operators,
      Admin admin,
      Authenticator authenticator,
      Keyring keyring,
      InstantSource clock) {
    this.operators = operators;
    this.admin = admin;
    this.authenticator = authenticator;
    this.keyring = keyring;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/keys", Guard.ADMINISTER, this::list),
        Route.post("/v1/keys", Guard.ADMINISTER, this::create).maxBody(Route.SMALL),
        Route.delete("/v1/keys/{id}", Guard.ADMINISTER, this::revoke),
        Route.post("/v1/keys/{id}/rotate", Guard.ADMINISTER, this::rotate).maxBody(Route.SMALL),
        Route.post("/v1/signing-keys/rotate", Guard.ADMINISTER, this::rotateSigning)
            .maxBody(Route.SMALL));
  }

  private KeyOperator keys(Call call) {
    call.caller().mustSeeEveryTenant("a key");
    return operators.of(call).keys();
  }

  private Answer list(Call call) {
    return Answer.ok(Map.of("keys", keys(call).list()));
  }

  private Answer create(Call call) {
    KeyOperator keys = keys(call);
    KeyRequest request = call.body(KeyRequest.class);
    Role role = Role.of(request.role());
    boolean mighty = role == Role.ADMIN && request.tenant() == null;
    if (!mighty && !admin.hasKeys()) {
      throw new Problem(
          422,
          "first_key",
          "once there is a key, the server refuses requests without one: create a key of role admin first,"
              + " for every tenant");
    }
    Duration lifetime = request.lifetime();
    mayLiveUntil(call.caller(), keys, lifetime == null ? null : clock.instant().plus(lifetime));
    return made(keys.create(request.name(), role, request.tenant(), lifetime));
  }

  /**
   * A key that expires cannot get a secret that lives longer, neither by making a key nor by
   * rotating another one.
   */
  private static void mayLiveUntil(Caller caller, KeyOperator keys, @Nullable Instant end) {
    Instant own =
        caller.key().isEmpty()
            ? null
            : find(keys, caller.key()).map(ApiKey::expiresAt).orElse(null);
    if (own != null && (end == null || end.isAfter(own))) {
      throw new Problem(
          403,
          "forbidden",
          "this key expires at " + own + ": it cannot create one that expires later");
    }
  }

  private static Optional<ApiKey> find(KeyOperator keys, String id) {
    return keys.list().stream().filter(key -> key.id().equals(id)).findFirst();
  }

  /** The only answer that contains the secret. */
  private Answer made(KeyOperator.NewKey key) {
    authenticator.forget();
    return Answer.json(201, key);
  }

  private Answer revoke(Call call) {
    String id = call.value("id");
    if (!keys(call).revoke(id)) {
      throw unknown();
    }
    authenticator.forget();
    return Answer.ok(Wire.object().put("id", id).put("revoked", true));
  }

  private Answer rotate(Call call) {
    KeyOperator keys = keys(call);
    KeyRequest.Rotation request =
        call.body(KeyRequest.Rotation.class, new KeyRequest.Rotation(null));
    ApiKey old = find(keys, call.value("id")).orElseThrow(KeysApi::unknown);
    mayLiveUntil(call.caller(), keys, old.expiresAt());
    return keys.rotate(old.id(), request.overlap()).map(this::made).orElseThrow(KeysApi::unknown);
  }

  private static Problem unknown() {
    return Problem.notFound("there is no valid key with this id");
  }

  private Answer rotateSigning(Call call) {
    KeyOperator keys = keys(call);
    call.body(JobActionsApi.Nothing.class, new JobActionsApi.Nothing());
    String kid = keys.rotateSigning();
    keyring.load();
    return Answer.ok(Wire.object().put("kid", kid));
  }
}
