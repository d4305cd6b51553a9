package dev.holdfast.server.dispatch;

/** The outcome of posting an envelope. */
sealed interface DispatchReply {
  /** For messages. */
  String shown();

  /**
   * @param said the beginning of the body
   */
  record Answered(int status, String said) implements DispatchReply {
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_EARLY = 425;
    private static final int TOO_MANY = 429;

    boolean isTaken() {
      return status / 100 == 2;
    }

    /** Sending the same request again would get the same answer. */
    boolean isRefusal() {
      return status / 100 == 4
          && status != REQUEST_TIMEOUT
          && status != TOO_EARLY
          && status != TOO_MANY;
    }

    /** The worker refuses this server, not the task. */
    boolean isSecretRefused() {
      return status == 401 || status == 403;
    }

    @Override
    public String shown() {
      return "status " + status + (said.isEmpty() ? "" : ": " + said);
    }
  }

  /** No connection, or it broke. */
  record Broken(String shown) implements DispatchReply {}

  /** No answer so far. */
  record Pending(String shown) implements DispatchReply {}
}
