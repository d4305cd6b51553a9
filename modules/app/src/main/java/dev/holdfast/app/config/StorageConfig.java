package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import java.nio.file.Path;

/** Where this process keeps files. */
@Section(title = "Files", key = "")
public record StorageConfig(
    @Declared(
            key = "folder",
            value = ".holdfast",
            about =
                "folder of the embedded PostgreSQL, and of all files that have no folder of their own")
        Path folder,
    @Declared(
            key = "scratch.folder",
            inFolder = "scratch",
            about =
                "holds the working directories of attempts; 'scratch' in the folder unless given")
        Path scratchFolder,
    @Declared(
            key = "scratch.keepOnSuccess",
            variable = "KEEP_SCRATCH_ON_SUCCESS",
            value = "false",
            about = "keep the working directory of a job that succeeded")
        boolean keepScratchOnSuccess,
    @Declared(
            key = "artifacts.folder",
            inFolder = "",
            about = "holds results/{jobId}/{name}; the folder itself unless given")
        Path artifactsFolder) {
  public Scratch scratch() {
    return new Scratch(scratchFolder, keepScratchOnSuccess);
  }

  public FolderStore artifacts() {
    return new FolderStore(artifactsFolder);
  }
}
