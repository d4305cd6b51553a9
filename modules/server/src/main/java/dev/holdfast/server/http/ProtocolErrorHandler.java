package dev.holdfast.server.http;

import dev.holdfast.contract.json.Wire;
import io.helidon.http.DirectHandler;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import java.nio.charset.StandardCharsets;

/** Answers what the web server cannot read as a request, in the form of all other errors. */
public final class ProtocolErrorHandler implements DirectHandler {
  private ProtocolErrorHandler() {}

  public static DirectHandlers handlers() {
    DirectHandlers.Builder builder = DirectHandlers.builder();
    for (EventType type : EventType.values()) {
      builder.addHandler(type, new ProtocolErrorHandler());
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
    Status answered = type == EventType.INTERNAL_ERROR ? Status.BAD_REQUEST_400 : status;
    headers.set(HeaderNames.CONTENT_TYPE, Answer.JSON);
    return TransportResponse.builder()
        .status(answered)
        .headers(headers)
        .entity(
            Wire.text(
                    Wire.object()
                        .put("error", error(answered))
                        .put("message", "the request could not be read as HTTP"))
                .getBytes(StandardCharsets.UTF_8))
        .keepAlive(false)
        .build();
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
