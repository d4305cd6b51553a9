package dev.holdfast.server.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import java.util.LinkedHashMap;
import java.util.Map;

/** A refused request, with its answer: a status, an error code and a message. */
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

  public Answer answer() {
    ObjectNode body = Wire.object().put("error", error);
    details.forEach((field, value) -> body.putPOJO(field, value));
    body.put("message", getMessage());
    Answer answer = Answer.json(status, body);
    headers.forEach(answer::header);
    return answer;
  }
}
