package dev.holdfast.client.operate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.Reached;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Text;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Asks a server, and turns what it does not do into a sentence that says what to do. */
final class OperatorCalls implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** Longer than the server's own patience with its database, so that it can say what is wrong. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final int MESSAGE_CHARS = 400;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final String url;
  private final @Nullable String key;

  OperatorCalls(URI server, @Nullable String key) {
    this.url = server.toString().replaceAll("/+$", "");
    this.key = key;
  }

  JsonNode get(String path) {
    return ok(send("GET", path, null));
  }

  JsonNode post(String path, Object body) {
    return ok(send("POST", path, body));
  }

  JsonNode put(String path, Object body) {
    return ok(send("PUT", path, body));
  }

  /** False when there was nothing there. */
  boolean delete(String path) {
    Reply reply = send("DELETE", path, null);
    return reply.status() != 404 && !ok(reply).isMissingNode();
  }

  record Reply(int status, JsonNode body) {
    String error() {
      return body.path("error").asText();
    }
  }

  /** Whatever it answers. */
  Reply send(String method, String path, @Nullable Object body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .timeout(PATIENCE)
            .header("Accept", "application/json")
            .method(
                method,
                body == null
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofByteArray(Wire.write(body)));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (key != null) {
      request.header("Authorization", "Bearer " + key);
    }
    try {
      HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
      return new Reply(response.statusCode(), tree(response));
    } catch (IOException away) {
      throw new OperatorException(
          OperatorException.Reason.AWAY,
          "cannot reach the server at %s: is it running there? (%s)"
              .formatted(url, Reached.why(away)),
          away);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new OperatorException(OperatorException.Reason.AWAY, "interrupted", interrupted);
    }
  }

  public JsonNode ok(Reply reply) {
    if (reply.status() / 100 == 2) {
      return reply.body();
    }
    throw failed(reply);
  }

  private OperatorException failed(Reply reply) {
    String message = Text.excerpt(reply.body().path("message").asText(), MESSAGE_CHARS);
    return switch (reply.status()) {
      case 401 ->
          new OperatorException(
              OperatorException.Reason.NOT_ALLOWED,
              key == null
                  ? "the server at %s wants an API key: put one into HOLDFAST_SERVER_API_KEY, or name its file with --api-key-file"
                      .formatted(url)
                  : "the server at %s does not accept the API key: %s".formatted(url, message));
      case 403 ->
          new OperatorException(
              OperatorException.Reason.NOT_ALLOWED,
              "the server at %s does not permit this: %s".formatted(url, message));
      case 404 -> new OperatorException(OperatorException.Reason.NOT_FOUND, message);
      case 400, 409, 413, 415, 422 ->
          new OperatorException(OperatorException.Reason.REFUSED, message);
      case 429 ->
          new OperatorException(
              OperatorException.Reason.REFUSED,
              "the server at %s takes no more requests just now: wait a moment".formatted(url));
      case 502, 503, 504 ->
          new OperatorException(
              OperatorException.Reason.AWAY,
              "the server at %s answers %d: %s".formatted(url, reply.status(), message));
      default ->
          new OperatorException(
              OperatorException.Reason.BROKEN,
              "the server at %s answers %d: %s".formatted(url, reply.status(), message));
    };
  }

  private JsonNode tree(HttpResponse<byte[]> response) {
    try {
      return response.body().length == 0
          ? Wire.object()
          : Wire.answer(response.body(), JsonNode.class);
    } catch (IOException notOurs) {
      if (response.statusCode() / 100 != 2) {
        // What stands between us and the server answers in its own words.
        return Wire.object().put("message", "no answer of a Holdfast server");
      }
      throw new OperatorException(
          OperatorException.Reason.BROKEN,
          "what answers at %s is not a Holdfast server".formatted(url),
          notOurs);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "the server at " + url;
  }
}
