package dev.holdfast.client.operate;

import dev.holdfast.client.http.Reply;
import dev.holdfast.client.http.ServerConnection;
import dev.holdfast.client.http.ServerException;
import dev.holdfast.contract.ConnectFailure;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.RefusedException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The calls of an operator. What a server does not do becomes an {@link OperatorException}. */
final class OperatorCalls implements AutoCloseable {
  static final Map<String, String> NOTHING = Map.of();

  /** For thousands of jobs at once, which take longer to send and to write. */
  private static final Duration BULK_TIMEOUT = Duration.ofSeconds(60);

  private final ServerConnection server;

  OperatorCalls(URI server, @Nullable String key) {
    this.server = new ServerConnection(server, key);
  }

  <T> T get(String path, Class<T> type) {
    return translated(() -> reply(server.get(path, ServerConnection.TIMEOUT)).read(type));
  }

  /** The list in a field of the answer. */
  <T> List<T> list(String path, String field, Class<T> type) {
    return translated(() -> reply(server.get(path, ServerConnection.TIMEOUT)).list(field, type));
  }

  /** Empty when the server answers that there is no such thing. */
  <T> Optional<T> find(String path, Class<T> type) {
    return translated(
        () -> {
          Reply reply = reply(server.get(path, ServerConnection.TIMEOUT));
          return isNotFound(reply) ? Optional.empty() : Optional.of(reply.read(type));
        });
  }

  /** A file; empty when the server answers that there is no such thing. */
  Optional<byte[]> findBytes(String path) {
    return translated(
        () -> {
          Reply reply = reply(server.get(path, ServerConnection.TIMEOUT));
          return isNotFound(reply) ? Optional.empty() : Optional.of(reply.bytes());
        });
  }

  <T> T post(String path, Object body, Class<T> type) {
    return post(path, body, reply -> reply.read(type));
  }

  <T> T postBulk(String path, Object body, Function<Reply, T> read) {
    byte[] json = Wire.write(body);
    return translated(() -> read.apply(reply(server.post(path, json, BULK_TIMEOUT))));
  }

  void post(String path, Object body) {
    post(path, body, Reply::ok);
  }

  /** For answers that are not errors to this caller; {@code read} sees them all. */
  <T> T post(String path, Object body, Function<Reply, T> read) {
    byte[] json = Wire.write(body);
    return translated(() -> read.apply(reply(server.post(path, json, ServerConnection.TIMEOUT))));
  }

  <T> T put(String path, Object body, Class<T> type) {
    byte[] json = Wire.write(body);
    return translated(() -> reply(server.put(path, json, ServerConnection.TIMEOUT)).read(type));
  }

  <T> T patch(String path, Object body, Class<T> type) {
    byte[] json = Wire.write(body);
    return translated(() -> reply(server.patch(path, json, ServerConnection.TIMEOUT)).read(type));
  }

  <T> T delete(String path, Class<T> type) {
    return translated(() -> reply(server.delete(path, ServerConnection.TIMEOUT)).read(type));
  }

  /** False when the server answers that there was no such thing. */
  boolean delete(String path) {
    return translated(
        () -> {
          Reply reply = reply(server.delete(path, ServerConnection.TIMEOUT));
          return !isNotFound(reply) && reply.ok().isOk();
        });
  }

  /** Whether the server says so; the 404 of something else at the address is no answer. */
  static boolean isNotFound(Reply reply) {
    return reply.status() == 404 && !reply.error().isEmpty();
  }

  private Reply reply(ServerConnection.Call call) {
    return server.await(call);
  }

  private static <T> T translated(Supplier<T> call) {
    try {
      return call.get();
    } catch (ServerException failed) {
      throw translated(failed);
    }
  }

  private static RuntimeException translated(ServerException failed) {
    String message = String.valueOf(failed.getMessage());
    return switch (failed.reason()) {
      case UNREACHABLE ->
          because(
              Reason.AWAY,
              ConnectFailure.of(failed) == ConnectFailure.REFUSED
                  ? message + "; is it running there?"
                  : message,
              failed);
      case UNAVAILABLE, BUSY -> because(Reason.AWAY, message, failed);
      case KEY_REFUSED ->
          because(
              Reason.NOT_ALLOWED,
              message
                  + "; put one into HOLDFAST_SERVER_API_KEY, or name its file with --api-key-file",
              failed);
      case NOT_PERMITTED -> because(Reason.NOT_ALLOWED, message, failed);
      case NOT_FOUND ->
          because(Reason.of(failed.error()).orElse(Reason.NOT_FOUND), message, failed);
      // As on the database, which throws a refusal itself.
      case REFUSED ->
          failed
              .refusal()
              .<RuntimeException>map(refusal -> new RefusedException(refusal, message))
              .orElseGet(
                  () -> because(Reason.of(failed.error()).orElse(Reason.REFUSED), message, failed));
      case TOO_MANY_REQUESTS -> because(Reason.REFUSED, message + ": wait a moment", failed);
      case UNEXPECTED -> because(Reason.BROKEN, message, failed);
    };
  }

  private static OperatorException because(Reason reason, String message, ServerException failed) {
    JobState state =
        Stream.of(JobState.values())
            .filter(each -> each.name().equals(failed.state()))
            .findFirst()
            .orElse(null);
    return new OperatorException(reason, message, state, failed);
  }

  @Override
  public void close() {
    server.close();
  }

  @Override
  public String toString() {
    return server.toString();
  }
}
