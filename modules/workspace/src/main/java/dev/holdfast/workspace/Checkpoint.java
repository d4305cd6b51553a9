package dev.holdfast.workspace;

import java.time.Instant;
import java.util.List;

/**
 * What a finished step left behind, beside its patch.
 *
 * @param stepIndex from 1
 * @param baseline the commit that the workspace began with
 * @param tree the git tree that the patch leads to
 */
public record Checkpoint(
    String stepId,
    int stepIndex,
    int attempt,
    String diffHash,
    List<String> changedFiles,
    String summary,
    Instant startedAt,
    Instant finishedAt,
    String baseline,
    String tree) {
  public Checkpoint {
    changedFiles = List.copyOf(changedFiles);
  }
}
