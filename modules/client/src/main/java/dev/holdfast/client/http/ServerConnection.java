package dev.holdfast.client.http;

import dev.holdfast.client.http.ServerException.Reason;
import dev.holdfast.contract.ConnectFailure;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of workers and operators to a server. Nothing is tried again here: a request whose
 * answer was lost may have been executed, and only its caller knows whether to repeat it.
 */
public final class ServerConnection implements AutoCloseable {
  /**
   * How long to wait for an answer. Longer than the server waits for its database, so that the
   * server can say what is wrong.
   */
  public static final Duration TIMEOUT = Duration.ofSeconds(40);

  static final String BYTES = "application/octet-stream";
  private static final String JSON = "application/json";
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final HttpClient http =
      HttpClient.newBuilder()
          // It keeps connections open, and every proxy supports it.
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  // Not sendAsync: it completes in the common pool of the process, which handlers may have filled.
  // Not virtual threads either: handlers that compute may have every carrier.
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("holdfast-http-", 0).factory());
  private final String url;
  private final @Nullable String authorization;

  /**
   * @param apiKey null for a server on this machine that has no keys yet
   */
  public ServerConnection(URI server, @Nullable String apiKey) {
    this.url = ServerAddress.checked(server);
    this.authorization = apiKey == null ? null : "Bearer " + ServerAddress.checkedKey(apiKey);
  }

  /** A request that was sent and is not answered yet. */
  public record Call(Future<HttpResponse<byte[]>> response, long began) {
    public void abandon() {
      response.cancel(true);
    }
  }

  public Call get(String path, Duration within) {
    return send("GET", path, null, BodyPublishers.noBody(), within);
  }

  public Call delete(String path, Duration within) {
    return send("DELETE", path, null, BodyPublishers.noBody(), within);
  }

  public Call post(String path, byte[] json, Duration within) {
    return send("POST", path, JSON, BodyPublishers.ofByteArray(json), within);
  }

  /** JSON, and bytes right behind it. */
  public Call post(String path, byte[] json, byte[] bytes, Duration within) {
    BodyPublisher both =
        BodyPublishers.concat(BodyPublishers.ofByteArray(json), BodyPublishers.ofByteArray(bytes));
    return send("POST", path, BYTES, both, within);
  }

  public Call patch(String path, byte[] json, Duration within) {
    return send("PATCH", path, JSON, BodyPublishers.ofByteArray(json), within);
  }

  public Call put(String path, byte[] json, Duration within) {
    return send("PUT", path, JSON, BodyPublishers.ofByteArray(json), within);
  }

  private Call send(
      String method, String path, @Nullable String type, BodyPublisher body, Duration within) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(method, body)
            .timeout(within)
            .header("Accept", JSON);
    if (type != null) {
      request.header("Content-Type", type);
    }
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    HttpRequest whole = request.build();
    try {
      return new Call(
          threads.submit(() -> http.send(whole, BodyHandlers.ofByteArray())), System.nanoTime());
    } catch (RejectedExecutionException closed) {
      throw unreachable(closed);
    }
  }

  /**
   * Waits for the answer, even if the thread is interrupted: a caller that publishes a result or
   * makes a key must know what became of it, and the wait has a limit. The interrupt is kept for
   * later.
   */
  public Reply await(Call call) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return new Reply(this, call.response().get());
        } catch (InterruptedException later) {
          interrupted = true;
        } catch (ExecutionException failed) {
          throw unreachable(failed.getCause() == null ? failed : failed.getCause());
        } catch (CancellationException abandoned) {
          throw unreachable(abandoned);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private ServerException unreachable(Throwable cause) {
    return new ServerException(
        Reason.UNREACHABLE, "", "", this + " does not answer: " + ConnectFailure.why(cause), cause);
  }

  boolean hasKey() {
    return authorization != null;
  }

  String url() {
    return url;
  }

  public boolean isClosed() {
    return threads.isShutdown();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.shutdownNow();
  }

  /** Without the key, which is a secret. */
  @Override
  public String toString() {
    return "the server at " + url;
  }
}
