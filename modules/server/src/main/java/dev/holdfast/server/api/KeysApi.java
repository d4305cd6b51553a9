package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.resource.Shape;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.auth.Secrets;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** API keys, and the key that task tokens are signed with. */
public final class KeysApi {
  private static final Duration DEFAULT_OVERLAP = Duration.ofHours(1);
  private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);
  private static final Duration LONGEST_LIFE = Duration.ofDays(3_650);

  /** How long another server may still sign with the key it has loaded. */
  private static final Duration UNTIL_ALL_KNOW = Duration.ofMinutes(1);

  private final Queue queue;
  private final Authenticator authenticator;
  private final Keyring keyring;
  private final InstantSource clock;

  public KeysApi(Queue queue, Authenticator authenticator, Keyring keyring, InstantSource clock) {
    this.queue = queue;
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
      Limits.key("name", Wire.present("name", name));
      Role.of(Wire.present("role", role));
      if (tenant != null && !tenant.equals(ApiKey.EVERY_TENANT)) {
        Limits.word("tenant", tenant);
      }
      bounded("expiresInMs", expiresInMs, 1, LONGEST_LIFE);
    }

    String owner() {
      return tenant == null ? ApiKey.EVERY_TENANT : tenant;
    }

    @Nullable Duration lifetime() {
      return expiresInMs == null ? null : Duration.ofMillis(expiresInMs);
    }
  }

  /** How long the old key stays valid. */
  record RotateRequest(@Nullable Long overlapMs) {
    RotateRequest {
      bounded("overlapMs", overlapMs, 0, LONGEST_OVERLAP);
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
          "field '%s' must lie between %d and %d".formatted(field, least, most.toMillis()));
    }
  }

  private static void forAll(Call call) {
    call.caller().mustSeeEveryTenant("a key");
  }

  private Answer list(Call call) {
    forAll(call);
    ObjectNode node = Wire.object();
    node.putArray("keys").addAll(queue.keys().stream().map(Shape::key).toList());
    return Answer.ok(node);
  }

  private Answer create(Call call) {
    forAll(call);
    KeyRequest request = call.body(KeyRequest.class);
    Role role = Role.of(request.role());
    boolean mighty = role == Role.ADMIN && request.owner().equals(ApiKey.EVERY_TENANT);
    if (!mighty && !queue.hasKeys()) {
      throw new Problem(
          422,
          "first_key",
          "the first key closes the server to all who have none: make one of role admin first,"
              + " for every tenant");
    }
    Duration lifetime = request.lifetime();
    mayOutlive(call.caller(), lifetime);
    return made(request.name(), role, request.owner(), lifetime);
  }

  /** A key cannot create a key that expires later than itself. */
  private void mayOutlive(Caller caller, @Nullable Duration lifetime) {
    Instant end = caller.key().isEmpty() ? null : expiry(caller.key());
    if (end != null && (lifetime == null || clock.instant().plus(lifetime).isAfter(end))) {
      throw new Problem(
          403,
          "forbidden",
          "this key expires at " + end + ": it cannot create one that expires later");
    }
  }

  private @Nullable Instant expiry(String id) {
    for (ApiKey key : queue.keys()) {
      if (key.id().equals(id)) {
        return key.expiresAt();
      }
    }
    return null;
  }

  /** The only answer that contains the secret. */
  private Answer made(String name, Role role, String tenant, @Nullable Duration lifetime) {
    Secrets.Parts parts = Secrets.next();
    ApiKey key = new ApiKey(parts.id(), name, role, tenant, clock.instant(), null, null);
    queue.createKey(key, parts.digest(), lifetime);
    authenticator.forget();
    ObjectNode node = Wire.object().put("id", parts.id()).put("key", parts.text());
    node.put("name", name).put("role", role.word()).put("tenant", tenant);
    return Answer.json(201, node);
  }

  private Answer revoke(Call call) {
    forAll(call);
    ApiKey key = existing(call);
    if (!queue.revokeKey(key.id(), Duration.ZERO)) {
      throw unknown();
    }
    authenticator.forget();
    return Answer.ok(Wire.object().put("id", key.id()).put("revoked", true));
  }

  private Answer rotate(Call call) {
    forAll(call);
    RotateRequest request = call.body(RotateRequest.class, new RotateRequest(null));
    ApiKey old = existing(call);
    Instant now = clock.instant();
    Instant end = old.expiresAt();
    boolean over =
        (end != null && !end.isAfter(now))
            || (old.revokedAt() != null && !old.revokedAt().isAfter(now));
    if (over) {
      throw unknown();
    }
    // Creates the new one first: after a crash in between there are two keys, not none.
    Answer fresh =
        made(old.name(), old.role(), old.tenant(), end == null ? null : Duration.between(now, end));
    queue.revokeKey(old.id(), request.overlap());
    authenticator.forget();
    return fresh;
  }

  private ApiKey existing(Call call) {
    String id = call.value("id");
    return queue.keys().stream()
        .filter(key -> key.id().equals(id))
        .findFirst()
        .orElseThrow(KeysApi::unknown);
  }

  private static Problem unknown() {
    return Problem.notFound("there is no valid key with this id");
  }

  private Answer rotateSigning(Call call) {
    forAll(call);
    call.body(Nothing.class, new Nothing());
    TokenKey key = Keyring.fresh();
    queue.rotateTokenKey(key, TokenLifetime.LONGEST.plus(UNTIL_ALL_KNOW));
    keyring.load();
    return Answer.ok(Wire.object().put("kid", key.kid()));
  }
}
