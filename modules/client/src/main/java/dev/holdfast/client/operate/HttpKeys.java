package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.request.KeyRequest;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keys, through a server. */
final class HttpKeys implements KeyOperator {
  private final OperatorCalls server;

  HttpKeys(OperatorCalls server) {
    this.server = server;
  }

  private static String path(String id) {
    return "/v1/keys/" + encoded(id);
  }

  @Override
  public List<ApiKey> list() {
    return server.list("/v1/keys", "keys", ApiKey.class);
  }

  @Override
  public NewKey create(
      String name, Role role, @Nullable String tenant, @Nullable Duration lifetime) {
    ApiKey.checkedLifetime(lifetime);
    return server.post(
        "/v1/keys",
        new KeyRequest(
            name, role.word(), tenant, lifetime == null ? null : Long.valueOf(lifetime.toMillis())),
        NewKey.class);
  }

  @Override
  public boolean revoke(String id) {
    return server.delete(path(id));
  }

  @Override
  public Optional<NewKey> rotate(String id, Duration overlap) {
    return server.post(
        path(id) + "/rotate",
        new KeyRequest.Rotation(ApiKey.checkedOverlap(overlap).toMillis()),
        reply ->
            OperatorCalls.isNotFound(reply)
                ? Optional.empty()
                : Optional.of(reply.read(NewKey.class)));
  }

  private record Signing(String kid) {}

  @Override
  public String rotateSigning() {
    return server.post("/v1/signing-keys/rotate", OperatorCalls.NOTHING, Signing.class).kid();
  }
}
