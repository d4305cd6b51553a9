package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.server.http.Answer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** An HTTP client that validates every request and response against the API document. */
public final class Client {
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI server;

  public Client(URI server) {
    this.server = server;
  }

  /** A response with its parsed body. */
  public record Reply(int status, JsonNode body, HttpResponse<String> response) {
    public JsonNode ok() {
      assertThat(status).as(() -> body.toString()).isEqualTo(200);
      return body;
    }

    public JsonNode created() {
      assertThat(status).as(() -> body.toString()).isEqualTo(201);
      return body;
    }

    public Reply is(int expected, String error) {
      assertThat(status).as(() -> body.toString()).isEqualTo(expected);
      assertThat(body.path("error").asText()).as(() -> body.toString()).isEqualTo(error);
      assertThat(body.path("message").asText()).isNotBlank();
      assertThat(body.path("detail")).isEqualTo(body.path("message"));
      assertThat(body.path("status").asInt()).isEqualTo(expected);
      assertThat(body.path("type").asText()).isEqualTo("urn:holdfast:error:" + error);
      return this;
    }
  }

  public Reply get(String path, @Nullable String bearer) {
    return send(request(path, bearer).GET());
  }

  public Reply post(String path, Object body, @Nullable String bearer) {
    return checked(
        "POST",
        path,
        body,
        send(
            request(path, bearer)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Wire.write(body)))));
  }

  /** Without a body. */
  public Reply post(String path, @Nullable String bearer) {
    return send(request(path, bearer).POST(BodyPublishers.noBody()));
  }

  public Reply patch(String path, Object body, @Nullable String bearer) {
    return checked(
        "PATCH",
        path,
        body,
        send(
            request(path, bearer)
                .header("Content-Type", "application/json")
                .method("PATCH", BodyPublishers.ofByteArray(Wire.write(body)))));
  }

  public Reply put(String path, Object body, @Nullable String bearer) {
    return checked(
        "PUT",
        path,
        body,
        send(
            request(path, bearer)
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofByteArray(Wire.write(body)))));
  }

  public Reply delete(String path, @Nullable String bearer) {
    return send(request(path, bearer).DELETE());
  }

  /**
   * What was done was asked for in the documented form; snake_case is another one, and also good.
   */
  private Reply checked(String method, String path, Object body, Reply reply) {
    JsonNode sent = Wire.tree(Wire.write(body));
    boolean snakeCase = sent.properties().stream().anyMatch(field -> field.getKey().contains("_"));
    if (reply.status() < 300 && !snakeCase) {
      Document.checkRequest(method, path.split("\\?", 2)[0], sent);
    }
    return reply;
  }

  public HttpRequest.Builder request(String path, @Nullable String bearer) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(server + path)).timeout(SOON);
    return bearer == null ? builder : builder.header("Authorization", "Bearer " + bearer);
  }

  public Reply send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
      String type = response.headers().firstValue("Content-Type").orElse("");
      JsonNode body =
          type.startsWith(Answer.JSON) || type.startsWith(Answer.PROBLEM_JSON)
              ? Wire.tree(response.body().getBytes(StandardCharsets.UTF_8))
              : Wire.object().put("text", response.body());
      Document.checkAnswer(
          response.request().method(),
          response.request().uri().getRawPath(),
          response.statusCode(),
          type,
          body);
      return new Reply(response.statusCode(), body, response);
    } catch (IOException failed) {
      throw new AssertionError("no answer", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", interrupted);
    }
  }
}
