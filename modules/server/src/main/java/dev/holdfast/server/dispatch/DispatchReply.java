package dev.holdfast.server.dispatch;

/** The outcome of posting a document. */
public sealed interface DispatchReply {
  /** For messages. */
  String shown();

  /**
   * @param said the beginning of the body
   */
  record Answered(int status, String said) implements DispatchReply {
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_EARLY = 425;
    private static final int TOO_MANY = 429;
    private static final int BAD_GATEWAY = 502;
    private static final int UNAVAILABLE = 503;
    private static final int GATEWAY_TIMEOUT = 504;

    public boolean isTaken() {
      return status / 100 == 2;
    }

    /** Sending the same request again would get the same answer. */
    boolean isRefusal() {
      return status / 100 == 4
          && status != REQUEST_TIMEOUT
          && status != TOO_EARLY
          && status != TOO_MANY;
    }

    /** The worker may have no room for another task at the moment. */
    boolean isBusy() {
      return status == TOO_MANY || status == UNAVAILABLE;
    }

    /**
     * The worker failed. Not what proxies answer for a worker whose answer they did not get, and
     * which may be at work.
     */
    boolean isFailure() {
      return status / 100 == 5
          && status != BAD_GATEWAY
          && status != UNAVAILABLE
          && status != GATEWAY_TIMEOUT;
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
