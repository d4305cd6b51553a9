package dev.holdfast.client.http;

import dev.holdfast.model.value.Refusal;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A server refused a request or failed. The message is a sentence for the caller. */
public final class ServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. */
  public enum Reason {
    /** No answer came. */
    UNREACHABLE,
    /** The server, or a proxy in front of it, says that it cannot answer now. */
    UNAVAILABLE,
    /** The database waits for locks that others hold. */
    BUSY,
    /** The caller sends more requests than the server accepts. */
    TOO_MANY_REQUESTS,
    /** There is no API key, or it is not valid. */
    KEY_REFUSED,
    /** The API key has not the role that this needs. */
    NOT_PERMITTED,
    /** There is no such thing, or no such route. */
    NOT_FOUND,
    /** The request was understood and refused. */
    REFUSED,
    /** What answers is not a Holdfast server, or not of a version that is understood. */
    UNEXPECTED
  }

  private final Reason reason;
  private final String error;
  private final String state;

  ServerException(
      Reason reason, String error, String state, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.error = error;
    this.state = state;
  }

  public Reason reason() {
    return reason;
  }

  /** The server's code; empty where it answered none. */
  public String error() {
    return error;
  }

  /** The state of the job because of which it was refused; empty where that is not why. */
  public String state() {
    return state;
  }

  /** Which refusal the server's code names; empty where it names none. */
  public Optional<Refusal> refusal() {
    return Stream.of(Refusal.values())
        .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(error))
        .findFirst();
  }
}
