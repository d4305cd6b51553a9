package dev.holdfast.workspace;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What jobs of kind {@code workspace} find on this machine.
 *
 * @param runtimes by the names that steps call them by
 * @param cache mirrors of repositories
 * @param gitEnvironment what git may see besides the usual, such as SSH_AUTH_SOCK
 * @param gitTimeout how long one call of git may take
 * @param patchBytes how large what one step has changed may be; {@link Limits#PATCH_BYTES} at most
 */
public record Workspaces(
    Map<String, RuntimeCommand> runtimes,
    Path cache,
    Map<String, String> gitEnvironment,
    Duration gitTimeout,
    int patchBytes) {
  public Workspaces {
    if (gitTimeout.isNegative() || gitTimeout.isZero()) {
      throw new IllegalArgumentException("gitTimeout " + gitTimeout + " must be positive");
    }
    if (patchBytes < 1 || patchBytes > Limits.PATCH_BYTES) {
      throw new IllegalArgumentException(
          "patchBytes %,d must be 1 to %,d".formatted(patchBytes, Limits.PATCH_BYTES));
    }
    runtimes = Map.copyOf(runtimes);
    gitEnvironment = Map.copyOf(gitEnvironment);
  }

  /** With the usual limits. */
  public Workspaces(
      Map<String, RuntimeCommand> runtimes, Path cache, Map<String, String> gitEnvironment) {
    this(runtimes, cache, gitEnvironment, Git.TIMEOUT, Workspace.PATCH_BYTES);
  }

  /** Secrets are recognised by their form and by their names. */
  public Kind<WorkspaceJob> kind(Codec codec) {
    return kind(codec, Scrubber.knowing(List.of()));
  }

  /**
   * @param scrubber hides secrets in what programs print, and finds them in what they change
   */
  public Kind<WorkspaceJob> kind(Codec codec, Scrubber scrubber) {
    return Kind.of(
        WorkspaceJob.KIND, WorkspaceJob.class, new WorkspaceHandler(this, codec, scrubber));
  }
}
