package dev.holdfast.workspace.git;

import java.nio.file.Path;
import java.util.List;

/**
 * What has changed in a workspace since its last accepted step.
 *
 * @param base the tree before
 * @param tree the tree now
 * @param patch leads from the one to the other; there until the next changes are looked at
 * @param diffHash SHA-256 of the patch, in hex
 * @param changedFiles a name that is no UTF-8 stands as git quotes it
 * @param warnings what is not in the patch, though it may have changed
 */
public record Changes(
    String base,
    String tree,
    Path patch,
    String diffHash,
    List<String> changedFiles,
    List<String> warnings) {
  public Changes {
    changedFiles = List.copyOf(changedFiles);
    warnings = List.copyOf(warnings);
  }

  public boolean isEmpty() {
    return tree.equals(base);
  }
}
