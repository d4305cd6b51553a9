package dev.holdfast.client.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.Reached;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Outage;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server as its client sees it: a question goes out, and whatever comes back becomes an answer or
 * one of the exceptions a job source may throw.
 */
public final class ServerConnection implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServerConnection.class);
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final int MESSAGE_CHARS = 500;
  private static final String BYTES = "application/octet-stream";

  private final HttpClient http =
      HttpClient.newBuilder()
          // Keeps its connections open, and a proxy between us and the server understands it.
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  // Not sendAsync: it completes in the common pool of the process, which handlers may have filled.
  // Not virtual threads either: handlers that compute may have every carrier.
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("holdfast-http-", 0).factory());
  private final Outage outage = new Outage(System::nanoTime);
  // Whoever has never had an answer learns from the exception that this is the wrong address.
  private volatile boolean known;
  private final String url;
  private final @Nullable String authorization;

  public ServerConnection(URI server, @Nullable String apiKey) {
    this.url = ServerAddress.checked(server);
    this.authorization = apiKey == null ? null : "Bearer " + ServerAddress.checkedKey(apiKey);
  }

  /** A call, under way. */
  public record Call<T>(
      Future<HttpResponse<byte[]>> response, Class<T> type, Refusal refusal, long began) {
    public void abandon() {
      response.cancel(true);
    }
  }

  /**
   * @param within how long to wait for the answer
   * @param refusal what it means when the server refuses without a reason that we know
   */
  public <T> T post(String path, byte[] body, Duration within, Refusal refusal, Class<T> type) {
    return answer(posting(path, body, within, refusal, type));
  }

  /** JSON, and bytes right behind it. */
  public <T> T post(
      String path, byte[] json, byte[] bytes, Duration within, Refusal refusal, Class<T> type) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", BYTES)
            .POST(
                BodyPublishers.concat(
                    BodyPublishers.ofByteArray(json), BodyPublishers.ofByteArray(bytes)));
    return answer(sending(request, within, refusal, type));
  }

  public <T> Call<T> posting(
      String path, byte[] body, Duration within, Refusal refusal, Class<T> type) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body));
    return sending(request, within, refusal, type);
  }

  public <T> T get(String path, Duration within, Class<T> type) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).GET();
    return answer(sending(request, within, Refusal.BAD_NAME, type));
  }

  /**
   * What lies there, as it is.
   *
   * @param nothing how the server calls it when there is nothing
   */
  public Optional<byte[]> bytes(String path, Duration within, String nothing) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).GET();
    HttpResponse<byte[]> response =
        awaited(sending(request, within, Refusal.BAD_NAME, byte[].class));
    if (response.statusCode() == 404
        && problem(response.body()).path("error").asText().equals(nothing)) {
      return Optional.empty();
    }
    if (response.statusCode() / 100 != 2) {
      throw failed(response, Refusal.BAD_NAME);
    }
    if (!response.headers().firstValue("Content-Type").orElse("").equals(BYTES)) {
      throw notOurs(null);
    }
    return Optional.of(response.body());
  }

  private <T> Call<T> sending(
      HttpRequest.Builder request, Duration within, Refusal refusal, Class<T> type) {
    request.timeout(within).header("Accept", "application/json");
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    HttpRequest whole = request.build();
    try {
      return new Call<>(
          threads.submit(() -> http.send(whole, BodyHandlers.ofByteArray())),
          type,
          refusal,
          System.nanoTime());
    } catch (RejectedExecutionException closed) {
      throw unreachable(closed);
    }
  }

  /**
   * Waits for it, whoever interrupts: a handler that is told to stop while it publishes must know
   * what became of that, and it will within the time the call has.
   */
  public <T> T answer(Call<T> call) {
    return read(call, awaited(call));
  }

  private HttpResponse<byte[]> awaited(Call<?> call) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          HttpResponse<byte[]> response = call.response().get();
          tell(call, response);
          return response;
        } catch (InterruptedException later) {
          interrupted = true;
        } catch (ExecutionException failed) {
          SourceUnavailableException away =
              unreachable(failed.getCause() == null ? failed : failed.getCause());
          tellAway(call, away);
          throw away;
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

  private void tell(Call<?> call, HttpResponse<byte[]> response) {
    RuntimeException trouble =
        response.statusCode() / 100 == 2 ? null : failed(response, call.refusal());
    if (trouble instanceof SourceUnavailableException
        && !(trouble instanceof SourceBusyException)) {
      tellAway(call, trouble);
    } else {
      known = true;
      outage
          .ends(call.began())
          .ifPresent(
              away -> log.info("{} answers again after {} s", this, away.toMillis() / 1000.0));
    }
  }

  private void tellAway(Call<?> call, RuntimeException trouble) {
    if (known && !threads.isShutdown() && outage.begins(call.began())) {
      log.warn("{} (asked again until it answers)", trouble.getMessage());
    }
  }

  private SourceUnavailableException unreachable(Throwable cause) {
    return new SourceUnavailableException(
        "the server at %s does not answer: %s".formatted(url, Reached.why(cause)), cause);
  }

  private <T> T read(Call<T> call, HttpResponse<byte[]> response) {
    if (response.statusCode() / 100 != 2) {
      throw failed(response, call.refusal());
    }
    try {
      return Wire.answer(response.body(), call.type());
    } catch (IOException unreadable) {
      throw notOurs(unreadable);
    }
  }

  private IllegalStateException notOurs(@Nullable IOException unreadable) {
    return new IllegalStateException(
        "what the server at %s answers is not what a Holdfast server says".formatted(url),
        unreadable);
  }

  private RuntimeException failed(HttpResponse<byte[]> response, Refusal refusal) {
    JsonNode problem = problem(response.body());
    String error = problem.path("error").asText();
    String message = Text.excerpt(problem.path("message").asText(), MESSAGE_CHARS);
    int status = response.statusCode();
    IllegalStateException said =
        new IllegalStateException("%d %s: %s".formatted(status, error, message));
    return switch (status) {
      case 401 ->
          new KeyRefusedException(
              "the server at %s does not accept the API key (%s): %s; make one with role worker and give it to this worker"
                  .formatted(url, error, message));
      case 403 ->
          new KeyRefusedException(
              "the server at %s does not permit this (%s): %s; a worker needs a key of role worker"
                  .formatted(url, error, message));
      case 404, 405 ->
          new IllegalStateException(
              "the server at %s does not know what a worker asks of it: is it a Holdfast server, and not older than this worker?"
                  .formatted(url),
              said);
      // Not busy, which would have everything tried again one by one: there are too many already.
      case 429, 502, 504 -> new SourceUnavailableException(text(message, status), said);
      case 503 ->
          error.equals("database_busy")
              ? new SourceBusyException(text(message, status), said)
              : new SourceUnavailableException(text(message, status), said);
      case 400, 409, 413, 415, 422 -> new RefusedException(named(error, refusal), message);
      default -> said;
    };
  }

  private String text(String message, int status) {
    return "the server at %s answers %d%s"
        .formatted(url, status, message.isEmpty() ? "" : ": " + message);
  }

  /** What stands between us and the server may answer in its own words. */
  private static JsonNode problem(byte[] body) {
    try {
      return Wire.answer(body, JsonNode.class);
    } catch (IOException notOurs) {
      return Wire.object();
    }
  }

  private static Refusal named(String error, Refusal otherwise) {
    for (Refusal refusal : Refusal.values()) {
      if (refusal.name().toLowerCase(Locale.ROOT).equals(error)) {
        return refusal;
      }
    }
    return otherwise;
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.shutdownNow();
  }

  /** Without what must not be read by others: the key. */
  @Override
  public String toString() {
    return "the server at " + url;
  }
}
