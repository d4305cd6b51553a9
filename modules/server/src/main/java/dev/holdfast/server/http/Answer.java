package dev.holdfast.server.http;

import dev.holdfast.contract.json.Wire;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a request: a body, or a stream. */
public final class Answer {
  public static final String JSON = "application/json";

  /** An error, by RFC 9457. */
  public static final String PROBLEM_JSON = "application/problem+json";

  public static final String BYTES = "application/octet-stream";

  /** Writes a body of unknown length. */
  @FunctionalInterface
  public interface Stream {
    void writeTo(OutputStream out) throws IOException;
  }

  private final int status;
  private final Map<String, String> headers = new LinkedHashMap<>();
  private final byte[] body;
  private final @Nullable Stream stream;
  private Runnable unsent = () -> {};

  private Answer(int status, String type, byte[] body, @Nullable Stream stream) {
    this.status = status;
    this.body = body;
    this.stream = stream;
    headers.put("Content-Type", type);
  }

  public static Answer json(int status, Object value) {
    return new Answer(status, JSON, Wire.write(value), null);
  }

  static Answer problem(int status, Object value) {
    return new Answer(status, PROBLEM_JSON, Wire.write(value), null);
  }

  public static Answer ok(Object value) {
    return json(200, value);
  }

  public static Answer text(int status, String type, byte[] body) {
    return new Answer(status, type, body, null);
  }

  public static Answer stream(String type, Stream stream) {
    return new Answer(200, type, new byte[0], stream);
  }

  public Answer header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /** What to do if the answer could not be sent. */
  public Answer unsent(Runnable action) {
    this.unsent = action;
    return this;
  }

  public int status() {
    return status;
  }

  public Map<String, String> headers() {
    return headers;
  }

  public byte[] body() {
    return body;
  }

  public @Nullable Stream stream() {
    return stream;
  }

  public void wasNotSent() {
    unsent.run();
  }
}
