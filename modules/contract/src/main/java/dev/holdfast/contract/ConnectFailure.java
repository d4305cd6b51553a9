package dev.holdfast.contract;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import org.jspecify.annotations.Nullable;

/** Why a request was not answered. */
public enum ConnectFailure {
  /** The name of the host has no address. */
  NO_SUCH_NAME,

  /** The host refuses the connection: nothing listens on the port. */
  REFUSED,

  OTHER;

  public static ConnectFailure of(Throwable error) {
    boolean refused = false;
    for (@Nullable Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
        return NO_SUCH_NAME;
      }
      if (cause instanceof HttpTimeoutException) {
        // Its cause is a ConnectException, but the connection was not refused.
        return OTHER;
      }
      refused |= cause instanceof ConnectException;
    }
    return refused ? REFUSED : OTHER;
  }

  /** Why there was no answer, in a few words; the JDK's exceptions often have no message. */
  public static String why(Throwable error) {
    return switch (of(error)) {
      case NO_SUCH_NAME -> "there is no such host";
      case REFUSED -> "the connection is refused";
      case OTHER -> message(error);
    };
  }

  private static String message(Throwable error) {
    for (@Nullable Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        return cause.getMessage();
      }
    }
    return error.getClass().getSimpleName();
  }
}
