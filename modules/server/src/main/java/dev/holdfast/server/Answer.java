package dev.holdfast.server;

import dev.holdfast.contract.Wire;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a request is answered: at once, or as a stream. */
final class Answer {
  static final String JSON = "application/json";
  static final String BYTES = "application/octet-stream";

  /** Writes as long as it likes. */
  @FunctionalInterface
  interface Stream {
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

  static Answer json(int status, Object value) {
    return new Answer(status, JSON, Wire.write(value), null);
  }

  static Answer ok(Object value) {
    return json(200, value);
  }

  static Answer text(int status, String type, byte[] body) {
    return new Answer(status, type, body, null);
  }

  static Answer stream(String type, Stream stream) {
    return new Answer(200, type, new byte[0], stream);
  }

  Answer header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /** What to do when nobody was there any more to take it. */
  Answer unsent(Runnable action) {
    this.unsent = action;
    return this;
  }

  int status() {
    return status;
  }

  Map<String, String> headers() {
    return headers;
  }

  byte[] body() {
    return body;
  }

  @Nullable Stream stream() {
    return stream;
  }

  void wasNotSent() {
    unsent.run();
  }
}
