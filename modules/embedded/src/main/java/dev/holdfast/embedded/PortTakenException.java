package dev.holdfast.embedded;

/** The port that was asked for belongs to another process. */
public final class PortTakenException extends EmbeddedPostgresException {

  PortTakenException(int port) {
    super(
        "port %d on 127.0.0.1 is taken: free it, choose another, or choose 0 for any free port"
            .formatted(port));
  }
}
