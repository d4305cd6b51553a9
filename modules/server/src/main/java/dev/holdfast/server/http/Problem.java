package dev.holdfast.server.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A refused request, with its answer: problem details by RFC 9457, and beside them an error code
 * and a message, which clients read that are older than that format.
 */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String error;
  private final transient Map<String, Object> details = new LinkedHashMap<>();
  private final transient Map<String, String> headers = new LinkedHashMap<>();

  public Problem(int status, String error, String message) {
    // Without a stack trace: none is read, and filling it costs more than the rest.
    super(message, null, false, false);
    this.status = status;
    this.error = error;
  }

  public static Problem badRequest(String message) {
    return new Problem(400, "bad_request", message);
  }

  /** The server is about to end: the same request may be sent to another one, or a little later. */
  public static Problem stopping() {
    return new Problem(503, "stopping", "the server is stopping: send the request again")
        .header("Retry-After", "1")
        .header("Connection", "close");
  }

  public static Problem notFound(String what) {
    return new Problem(404, "not_found", what);
  }

  public Problem with(String field, Object value) {
    details.put(field, value);
    return this;
  }

  public Problem header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  public int status() {
    return status;
  }

  public String error() {
    return error;
  }

  /**
   * The type is a URN, since it names the error and leads to no page; the title is the same for all
   * problems of a type.
   */
  static ObjectNode body(int status, String error, String message) {
    String words = error.replace('_', ' ');
    return Wire.object()
        .put("type", "urn:holdfast:error:" + error)
        .put("title", Character.toUpperCase(words.charAt(0)) + words.substring(1))
        .put("status", status)
        .put("detail", message)
        .put("error", error)
        .put("message", message);
  }

  public Answer answer() {
    ObjectNode body = body(status, error, String.valueOf(getMessage()));
    details.forEach((field, value) -> body.putPOJO(field, value));
    Answer answer = Answer.problem(status, body);
    headers.forEach(answer::header);
    return answer;
  }
}
