package dev.holdfast.server.http;

import io.helidon.http.DirectHandler;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import java.util.function.BooleanSupplier;

/** Answers what the web server cannot read as a request, in the form of all other errors. */
public final class ProtocolErrorHandler implements DirectHandler {
  private final BooleanSupplier stopping;

  private ProtocolErrorHandler(BooleanSupplier stopping) {
    this.stopping = stopping;
  }

  /**
   * @param stopping whether the server is about to end, which interrupts requests half read
   */
  public static DirectHandlers handlers(BooleanSupplier stopping) {
    DirectHandlers.Builder builder = DirectHandlers.builder();
    for (EventType type : EventType.values()) {
      builder.addHandler(type, new ProtocolErrorHandler(stopping));
    }
    return builder.build();
  }

  @Override
  public TransportResponse handle(
      TransportRequest request,
      EventType type,
      Status status,
      ServerResponseHeaders headers,
      String message) {
    Answer answer = (stopping.getAsBoolean() ? Problem.stopping() : problem(type, status)).answer();
    answer.headers().forEach((name, value) -> headers.set(HeaderNames.create(name), value));
    return TransportResponse.builder()
        .status(Status.create(answer.status()))
        .headers(headers)
        .entity(answer.body())
        .keepAlive(false)
        .build();
  }

  private static Problem problem(EventType type, Status status) {
    Status answered = type == EventType.INTERNAL_ERROR ? Status.BAD_REQUEST_400 : status;
    return new Problem(answered.code(), error(answered), "the request could not be read as HTTP");
  }

  private static String error(Status status) {
    return switch (status.code()) {
      case 413 -> "body_too_large";
      case 414 -> "uri_too_long";
      case 431 -> "headers_too_large";
      case 404 -> "not_found";
      default -> "bad_request";
    };
  }
}
