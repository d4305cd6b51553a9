package dev.holdfast.client.worker;

import dev.holdfast.client.http.KeyRefusedException;
import dev.holdfast.client.http.Reply;
import dev.holdfast.client.http.ServerConnection;
import dev.holdfast.client.http.ServerException;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Outage;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of a worker. An answer becomes a value or one of the exceptions that a job source may
 * throw; that the server is unavailable, and that it is back, is logged once.
 */
final class WorkerCalls implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WorkerCalls.class);

  private final ServerConnection server;
  private final Outage outage = new Outage(System::nanoTime);
  // Before the first answer, the exception tells the caller that the address may be wrong.
  private volatile boolean known;
  private final RetryAfter retryAfter = new RetryAfter(System::nanoTime);

  WorkerCalls(URI server, @Nullable String apiKey) {
    this.server = new ServerConnection(server, apiKey);
  }

  /**
   * @param refusal what it means when the server refuses with a code that is no {@link Refusal}
   */
  <T> T post(String path, Object body, Refusal refusal, Class<T> type) {
    return post(path, Wire.write(body), refusal, type);
  }

  <T> T post(String path, byte[] json, Refusal refusal, Class<T> type) {
    return post(path, json, ServerConnection.TIMEOUT, refusal, type);
  }

  <T> T post(String path, byte[] json, Duration within, Refusal refusal, Class<T> type) {
    return translated(refusal, () -> reply(path, () -> server.post(path, json, within)).read(type));
  }

  /** JSON, and bytes right behind it. */
  <T> T post(String path, Object body, byte[] bytes, Refusal refusal, Class<T> type) {
    byte[] json = Wire.write(body);
    return translated(
        refusal,
        () ->
            reply(path, () -> server.post(path, json, bytes, ServerConnection.TIMEOUT)).read(type));
  }

  <T> T get(String path, Duration within, Class<T> type) {
    return translated(
        Refusal.BAD_NAME, () -> reply(path, () -> server.get(path, within)).read(type));
  }

  <T> T get(String path, Class<T> type) {
    return get(path, ServerConnection.TIMEOUT, type);
  }

  /**
   * @param nothing the server's code for that there is nothing
   */
  Optional<byte[]> bytes(String path, String nothing) {
    return translated(
        Refusal.BAD_NAME,
        () -> {
          Reply reply = reply(path, () -> server.get(path, ServerConnection.TIMEOUT));
          return reply.status() == 404 && reply.error().equals(nothing)
              ? Optional.empty()
              : Optional.of(reply.bytes());
        });
  }

  /** For a caller that may abandon it. */
  ServerConnection.Call begin(String path, byte[] json, Duration within) {
    retryAfter.check(path);
    return translated(Refusal.BAD_NAME, () -> server.post(path, json, within));
  }

  <T> T await(String path, ServerConnection.Call call, Class<T> type) {
    return translated(Refusal.BAD_NAME, () -> reply(path, call).read(type));
  }

  private <T> T translated(Refusal refusal, Supplier<T> call) {
    try {
      return call.get();
    } catch (ServerException failed) {
      throw translated(failed, refusal);
    }
  }

  private Reply reply(String path, Supplier<ServerConnection.Call> begin) {
    retryAfter.check(path);
    return reply(path, begin.get());
  }

  private Reply reply(String path, ServerConnection.Call call) {
    try {
      Reply reply = server.await(call);
      if (!reply.isOk() && isUnavailable(reply.failure())) {
        reply.retryAfter().ifPresent(pause -> retryAfter.later(path, pause, reply.failure()));
        unavailable(call, reply.failure());
      } else {
        answered(call);
      }
      return reply;
    } catch (ServerException unreachable) {
      if (!call.response().isCancelled()) {
        unavailable(call, unreachable);
      }
      throw unreachable;
    }
  }

  private void answered(ServerConnection.Call call) {
    known = true;
    outage
        .ends(call.began())
        .ifPresent(
            lasted -> log.info("{} answers again after {} s", server, lasted.toMillis() / 1000.0));
  }

  private void unavailable(ServerConnection.Call call, ServerException failed) {
    if (known && !server.isClosed() && outage.begins(call.began())) {
      log.warn("{} (retrying until it answers)", failed.getMessage());
    }
  }

  private static boolean isUnavailable(ServerException failed) {
    return switch (failed.reason()) {
      case UNREACHABLE, UNAVAILABLE, TOO_MANY_REQUESTS -> true;
      case BUSY, KEY_REFUSED, NOT_PERMITTED, NOT_FOUND, REFUSED, UNEXPECTED -> false;
    };
  }

  private RuntimeException translated(ServerException failed, Refusal refusal) {
    String message = String.valueOf(failed.getMessage());
    return switch (failed.reason()) {
      // Not busy where there are too many requests: then each would be repeated by itself.
      case UNREACHABLE, UNAVAILABLE, TOO_MANY_REQUESTS ->
          new SourceUnavailableException(message, failed);
      case BUSY -> new SourceBusyException(message, failed);
      case KEY_REFUSED ->
          new KeyRefusedException(
              message + "; create one with role worker and give it to this worker", failed);
      case NOT_PERMITTED ->
          new KeyRefusedException(message + "; a worker needs a key of role worker", failed);
      case NOT_FOUND ->
          new IllegalStateException(
              server
                  + " does not know what a worker asks of it: is it a Holdfast server, and not older than this worker?",
              failed);
      case REFUSED -> new RefusedException(failed.refusal().orElse(refusal), message);
      case UNEXPECTED -> new IllegalStateException(message, failed);
    };
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
