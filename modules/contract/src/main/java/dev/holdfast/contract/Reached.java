package dev.holdfast.contract;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import org.jspecify.annotations.Nullable;

/** How far a request came that was not answered. */
public enum Reached {
  /** Nowhere: the name has no address. */
  NO_SUCH_NAME,

  /** The machine, where nobody listens. */
  REFUSED,

  OTHER;

  public static Reached by(Throwable trouble) {
    boolean refused = false;
    for (@Nullable Throwable cause = trouble; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException || cause instanceof UnknownHostException) {
        return NO_SUCH_NAME;
      }
      if (cause instanceof HttpTimeoutException) {
        // Its cause says that it could not connect; nobody has refused it.
        return OTHER;
      }
      refused |= cause instanceof ConnectException;
    }
    return refused ? REFUSED : OTHER;
  }

  /** Why there was no answer, in a few words; those of the JDK are often none. */
  public static String why(Throwable trouble) {
    return switch (by(trouble)) {
      case NO_SUCH_NAME -> "there is no such host";
      case REFUSED -> "the connection is refused";
      case OTHER -> message(trouble);
    };
  }

  private static String message(Throwable trouble) {
    for (@Nullable Throwable cause = trouble; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        return cause.getMessage();
      }
    }
    return trouble.getClass().getSimpleName();
  }
}
