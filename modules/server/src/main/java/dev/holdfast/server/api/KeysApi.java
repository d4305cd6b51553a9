package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.resource.KeyResource;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.admin.TokenKey;
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
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** API keys, and the key that task tokens are signed with. */
public final class KeysApi {
  private static final Duration DEFAULT_OVERLAP = Duration.ofHours(1);

  private final Admin admin;
  private final Authenticator authenticator;
  private final Keyring keyring;
  private final InstantSource clock;

  public KeysApi(Admin admin, Authenticator authenticator, Keyring keyring, InstantSource clock) {
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

  /** The key to create. */
  record KeyRequest(String name, String role, @Nullable String tenant, @Nullable Long expiresInMs) {
    KeyRequest {
      ApiKey.checkedName(Wire.present("name", name));
      Role.of(Wire.present("role", role));
      ApiKey.checkedTenant(tenant);
      bounded("expiresInMs", expiresInMs, 1, ApiKey.LONGEST_LIFE);
    }

    @Nullable Duration lifetime() {
      return expiresInMs == null ? null : Duration.ofMillis(expiresInMs);
    }
  }

  /** How long the old key stays valid. */
  record RotateRequest(@Nullable Long overlapMs) {
    RotateRequest {
      bounded("overlapMs", overlapMs, 0, ApiKey.LONGEST_OVERLAP);
    }

    Duration overlap() {
      return overlapMs == null ? DEFAULT_OVERLAP : Duration.ofMillis(overlapMs);
    }
  }

  /** No fields. */
  record Nothing() {}

  private static void bounded(String field, @Nullable Long value, long least, Duration most) {
    if (value != null && (value < least || value > most.toMillis())) {
      throw new WireException(
          WireException.Kind.WRONG_VALUE,
          "field '%s' must be between %d and %d".formatted(field, least, most.toMillis()));
    }
  }

  private static void forAll(Call call) {
    call.caller().mustSeeEveryTenant("a key");
  }

  private Answer list(Call call) {
    forAll(call);
    return Answer.ok(new KeyResource.Keys(admin.keys().stream().map(KeyResource::of).toList()));
  }

  private Answer create(Call call) {
    forAll(call);
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
    mayLiveUntil(call.caller(), lifetime == null ? null : clock.instant().plus(lifetime));
    Secrets.Parts parts = Secrets.next();
    ApiKey key =
        new ApiKey(parts.id(), request.name(), role, request.tenant(), clock.instant(), null, null);
    admin.createKey(key, parts.digest(), lifetime);
    return made(parts, key);
  }

  /**
   * A key that expires cannot get a secret that lives longer, neither by making a key nor by
   * rotating another one.
   */
  private void mayLiveUntil(Caller caller, @Nullable Instant end) {
    Instant own =
        caller.key().isEmpty() ? null : find(caller.key()).map(ApiKey::expiresAt).orElse(null);
    if (own != null && (end == null || end.isAfter(own))) {
      throw new Problem(
          403,
          "forbidden",
          "this key expires at " + own + ": it cannot create one that expires later");
    }
  }

  private Optional<ApiKey> find(String id) {
    return admin.keys().stream().filter(key -> key.id().equals(id)).findFirst();
  }

  /** The only answer that contains the secret. */
  private Answer made(Secrets.Parts parts, ApiKey key) {
    authenticator.forget();
    return Answer.json(
        201,
        new KeyResource.Created(
            parts.id(), parts.text(), key.name(), key.role().word(), key.tenant()));
  }

  private Answer revoke(Call call) {
    forAll(call);
    String id = call.value("id");
    if (!admin.revokeKey(id, Duration.ZERO)) {
      throw unknown();
    }
    authenticator.forget();
    return Answer.ok(Wire.object().put("id", id).put("revoked", true));
  }

  private Answer rotate(Call call) {
    forAll(call);
    RotateRequest request = call.body(RotateRequest.class, new RotateRequest(null));
    ApiKey old = find(call.value("id")).orElseThrow(KeysApi::unknown);
    mayLiveUntil(call.caller(), old.expiresAt());
    Secrets.Parts parts = Secrets.next();
    return admin
        .rotateKey(old.id(), parts.id(), parts.digest(), request.overlap())
        .map(key -> made(parts, key))
        .orElseThrow(KeysApi::unknown);
  }

  private static Problem unknown() {
    return Problem.notFound("there is no valid key with this id");
  }

  private Answer rotateSigning(Call call) {
    forAll(call);
    call.body(Nothing.class, new Nothing());
    TokenKey key = TokenKey.next();
    admin.rotateTokenKey(key, TokenLifetime.KEY_OVERLAP);
    keyring.load();
    return Answer.ok(Wire.object().put("kid", key.kid()));
  }
}
