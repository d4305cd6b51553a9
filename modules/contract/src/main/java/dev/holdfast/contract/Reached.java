package dev.holdfast.contract;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import org.jspecify.annotations.Nullable;

/** How far a request came that was not answered. */
enum Reached {
  /** Nowhere: the name has no address. */
  NO_SUCH_NAME,

  /** The machine, where nobody listens. */
  REFUSED,

  OTHER;

  static Reached by(Throwable trouble) {
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
}
