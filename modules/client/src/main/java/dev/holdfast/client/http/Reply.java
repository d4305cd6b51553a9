package dev.holdfast.client.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.http.ServerException.Reason;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Text;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a server answered. */
public final class Reply {
  private static final int MESSAGE_CHARS = 500;

  private final ServerConnection server;
  private final HttpResponse<byte[]> response;
  private @Nullable JsonNode problem;

  Reply(ServerConnection server, HttpResponse<byte[]> response) {
    this.server = server;
    this.response = response;
  }

  public int status() {
    return response.statusCode();
  }

  public boolean isOk() {
    return status() / 100 == 2;
  }

  /** How long the server asks to wait before the call is made again, if it says so in seconds. */
  public Optional<Duration> retryAfter() {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(text -> text.matches("\\d{1,9}"))
        .map(text -> Duration.ofSeconds(Long.parseLong(text)));
  }

  /** The server's code for what is wrong; empty where there is none. */
  public String error() {
    return problem("error");
  }

  /** A field of an answer that says what is wrong; empty where there is none. */
  public String problem(String field) {
    if (problem == null) {
      problem = isOk() ? Wire.object() : parsed();
    }
    return problem.path(field).asText();
  }

  /** A proxy in front of the server answers with something that is no JSON. */
  private JsonNode parsed() {
    try {
      return Wire.answer(response.body(), JsonNode.class);
    } catch (IOException notOurs) {
      return Wire.object();
    }
  }

  /** Throws unless the server has done what it was asked. */
  public Reply ok() {
    if (!isOk()) {
      throw failure();
    }
    return this;
  }

  public <T> T read(Class<T> type) {
    ok();
    try {
      return Wire.answer(response.body(), type);
    } catch (IOException unreadable) {
      throw notOurs(unreadable);
    }
  }

  /** The list in a field of the answer. */
  public <T> List<T> list(String field, Class<T> type) {
    ok();
    try {
      return Wire.answers(response.body(), field, type);
    } catch (IOException unreadable) {
      throw notOurs(unreadable);
    }
  }

  public byte[] bytes() {
    ok();
    String type = response.headers().firstValue("Content-Type").orElse("");
    if (!type.equals(ServerConnection.BYTES) && !type.equals("text/x-patch")) {
      throw notOurs(null);
    }
    return response.body();
  }

  private ServerException notOurs(@Nullable IOException unreadable) {
    return new ServerException(
        Reason.UNEXPECTED,
        "",
        "",
        "what answers at %s is not a Holdfast server".formatted(server.url()),
        unreadable);
  }

  public ServerException failure() {
    String message = Text.excerpt(problem("message"), MESSAGE_CHARS);
    String answers =
        "%s answers %d%s".formatted(server, status(), message.isEmpty() ? "" : ": " + message);
    return switch (status()) {
      case 401 ->
          failure(
              Reason.KEY_REFUSED,
              server.hasKey()
                  ? "%s does not accept the API key: %s".formatted(server, message)
                  : server + " wants an API key");
      case 403 ->
          failure(Reason.NOT_PERMITTED, "%s does not permit this: %s".formatted(server, message));
      case 404, 405 -> failure(Reason.NOT_FOUND, message.isEmpty() ? answers : message);
      case 400, 409, 413, 415, 422 ->
          failure(Reason.REFUSED, message.isEmpty() ? answers : message);
      case 429 -> failure(Reason.TOO_MANY_REQUESTS, answers);
      case 502, 504 -> failure(Reason.UNAVAILABLE, answers);
      case 503 ->
          failure(error().equals("database_busy") ? Reason.BUSY : Reason.UNAVAILABLE, answers);
      default -> failure(Reason.UNEXPECTED, answers);
    };
  }

  private ServerException failure(Reason reason, String message) {
    return new ServerException(reason, error(), problem("state"), message, null);
  }
}
