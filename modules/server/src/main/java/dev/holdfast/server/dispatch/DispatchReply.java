package dev.holdfast.server.dispatch;

/** What came of posting an envelope. */
sealed interface DispatchReply {
  /** In a few words. */
  String shown();

  /**
   * @param said the beginning of what came with it
   */
  record Answered(int status, String said) implements DispatchReply {
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_EARLY = 425;
    private static final int TOO_MANY = 429;

    boolean isTaken() {
      return status / 100 == 2;
    }

    /** The same request would be answered the same, so there is no use in sending it again. */
    boolean isRefusal() {
      return status / 100 == 4
          && status != REQUEST_TIMEOUT
          && status != TOO_EARLY
          && status != TOO_MANY;
    }

    /** It is the server that is refused there, and not the task. */
    boolean isSecretRefused() {
      return status == 401 || status == 403;
    }

    @Override
    public String shown() {
      return "status " + status + (said.isEmpty() ? "" : ": " + said);
    }
  }

  /** Nobody is there, or the connection broke. */
  record Broken(String shown) implements DispatchReply {}

  /** No answer so far. */
  record Pending(String shown) implements DispatchReply {}
}
