package dev.holdfast.workspace.git;

import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepException;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Git said no. The message has its verb, its exit code and its last lines, and no secret. */
public final class GitException extends IOException {
  private static final long serialVersionUID = 1L;

  // Git speaks English to us. What it says of networks may pass; this, of a server, does not. Of
  // the files here it says the same, and there it may pass: a closed folder can be opened again.
  private static final Pattern FOR_EVER =
      Pattern.compile(
          "couldn't find remote ref|does not appear to be a git repository|repository .*not found"
              + "|Repository not found|repository '.*' does not exist|returned error: 40[0134]"
              + "|not our ref|Authentication failed|could not read (?:Username|Password)"
              + "|Permission denied \\(|Permission to .* denied"
              + "|Host key verification failed|dubious ownership|transport '.*' not allowed",
          Pattern.CASE_INSENSITIVE);

  private static final int NONE = -1;

  private final FailureClass failureClass;
  private final int exit;

  private GitException(
      String message, FailureClass failureClass, int exit, @Nullable Throwable cause) {
    super(Repository.masked(message), cause);
    this.failureClass = failureClass;
    this.exit = exit;
  }

  /**
   * @param asksServer whether what it said is about a server
   */
  static GitException failed(String verb, int exit, List<String> lastLines, boolean asksServer) {
    String said = String.join("\n", lastLines);
    return new GitException(
        "git %s failed with exit code %d%s"
            .formatted(verb, exit, said.isEmpty() ? "" : ": " + said),
        asksServer && FOR_EVER.matcher(said).find()
            ? FailureClass.DETERMINISTIC_REPO
            : FailureClass.TRANSIENT_RUNTIME,
        exit,
        null);
  }

  static GitException tooSlow(String verb, long seconds) {
    return new GitException(
        "git %s took longer than %d s and was ended".formatted(verb, seconds),
        FailureClass.TRANSIENT_RUNTIME,
        NONE,
        null);
  }

  static GitException silent(String verb, long seconds) {
    return new GitException(
        "git %s received nothing from the server for %d s and was killed".formatted(verb, seconds),
        FailureClass.TRANSIENT_RUNTIME,
        NONE,
        null);
  }

  /** Something here is not as it should be; a program may have done it. */
  static GitException local(String message) {
    return new GitException(message, FailureClass.TRANSIENT_RUNTIME, NONE, null);
  }

  static GitException repository(String message) {
    return new GitException(message, FailureClass.DETERMINISTIC_REPO, NONE, null);
  }

  static GitException unusable(String message, @Nullable Throwable cause) {
    return new GitException(message, FailureClass.DETERMINISTIC_CONTRACT, NONE, cause);
  }

  public FailureClass failureClass() {
    return failureClass;
  }

  public StepException asStepFailure() {
    return new StepException(failureClass, String.valueOf(getMessage()), this);
  }

  /** -1 when git did not exit by itself. */
  int exit() {
    return exit;
  }
}
