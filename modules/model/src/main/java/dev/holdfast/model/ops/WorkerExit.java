package dev.holdfast.model.ops;

/**
 * What the exit code of a worker process means, and what to do about it.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param name how it is shown
 */
public record WorkerExit(int code, String name, String meaning, String hint) {
  /** A signal ends a process with this much more than its number. */
  private static final int SIGNAL = 128;

  /** With how many signals there are: codes beyond are no signals. */
  private static final int SIGNALS = 64;

  public static final int CLEAN = 0;
  public static final int UNCAUGHT = 1;
  public static final int USAGE = 2;
  public static final int OUT_OF_MEMORY = 3;
  public static final int DATABASE = 4;
  public static final int LOCAL_ERROR = 7;
  public static final int HANDLERS = 9;
  public static final int CONFIGURATION = 10;

  /** Its supervisor has replaced it although it was still alive, and it noticed. */
  public static final int GIVEN_UP = 12;

  public static WorkerExit of(int code) {
    return switch (code) {
      case CLEAN -> new WorkerExit(code, "clean", "it ended as requested", "nothing");
      case UNCAUGHT ->
          new WorkerExit(code, "uncaught", "an uncaught exception", "its log has the stack trace");
      case USAGE ->
          new WorkerExit(
              code, "usage", "an unknown option", "correct HOLDFAST_WORKER_JAVA_OPTIONS");
      case OUT_OF_MEMORY ->
          new WorkerExit(
              code,
              "out of memory",
              "the Java heap was full",
              "give it more with HOLDFAST_WORKER_JAVA_OPTIONS=-Xmx..., or lower its concurrency");
      case DATABASE ->
          new WorkerExit(
              code,
              "database",
              "the database cannot be reached, or cannot be used",
              "its log says why; 'holdfast migrate' brings the schema up to date");
      case LOCAL_ERROR ->
          new WorkerExit(
              code,
              "initialisation",
              "a folder of this machine cannot be used",
              "its log says which");
      case HANDLERS ->
          new WorkerExit(
              code, "handlers", "its handlers could not be loaded", "its log says which and why");
      case CONFIGURATION ->
          new WorkerExit(
              code,
              "initialisation",
              "a setting is unknown or wrong",
              "'holdfast config' shows them all and where each came from");
      case GIVEN_UP ->
          new WorkerExit(
              code,
              "replaced",
              "another process has replaced it, so it ended",
              "nothing, unless it happens often: then two supervisors have the same name");
      case SIGNAL + 2 -> new WorkerExit(code, "SIGINT", "interrupted with Ctrl-C", "nothing");
      case SIGNAL + 6 ->
          new WorkerExit(
              code, "SIGABRT", "the JVM itself failed", "look for hs_err files near its log");
      case SIGNAL + 9 ->
          new WorkerExit(
              code,
              "SIGKILL",
              "killed with SIGKILL, by a user or by the system because memory ran out",
              "'dmesg' shows whether the system did it; then lower its concurrency");
      case SIGNAL + 11 ->
          new WorkerExit(
              code, "SIGSEGV", "native code failed", "look for hs_err files near its log");
      case SIGNAL + 15 ->
          new WorkerExit(
              code, "SIGTERM", "it got a second signal, or took too long to stop", "nothing");
      default ->
          code > SIGNAL && code <= SIGNAL + SIGNALS
              ? new WorkerExit(
                  code, "signal " + (code - SIGNAL), "a signal ended it", "its log may say why")
              : new WorkerExit(code, "exit " + code, "a handler ended the process", "see its log");
    };
  }

  /** For the screen: {@code 137 (SIGKILL)}. */
  public String shown() {
    return code + " (" + name + ")";
  }
}
