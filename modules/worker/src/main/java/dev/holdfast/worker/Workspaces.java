package dev.holdfast.worker;

import dev.holdfast.model.Codec;
import dev.holdfast.steps.RuntimeCommand;
import dev.holdfast.steps.WorkspaceJob;
import java.nio.file.Path;
import java.util.Map;

/**
 * What jobs of kind {@code workspace} find on this machine.
 *
 * @param runtimes by the names that steps call them by
 * @param cache mirrors of repositories
 * @param gitEnvironment what git may see besides the usual, such as SSH_AUTH_SOCK
 */
public record Workspaces(
    Map<String, RuntimeCommand> runtimes, Path cache, Map<String, String> gitEnvironment) {
  public Workspaces {
    runtimes = Map.copyOf(runtimes);
    gitEnvironment = Map.copyOf(gitEnvironment);
  }

  public Kind<WorkspaceJob> kind(Codec codec) {
    return Kind.of(WorkspaceJob.KIND, WorkspaceJob.class, new WorkspaceHandler(this, codec));
  }
}
