package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.FLAG;
import static dev.holdfast.app.setting.SettingType.PATH;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import java.nio.file.Path;
import java.util.List;

/** Where this process keeps files. */
public record StorageConfig(
    Path folder, Path scratchFolder, boolean keepScratchOnSuccess, Path artifactsFolder) {
  public static final Setting<Path> FOLDER =
      Setting.of(
          "folder",
          PATH,
          ".holdfast",
          "folder of the embedded PostgreSQL, and of all files that have no folder of their own");

  static final Setting<Path> SCRATCH_FOLDER =
      Setting.of(
          "scratch.folder",
          PATH,
          "holds the working directories of attempts; 'scratch' in the folder unless given");

  static final Setting<Boolean> KEEP_SCRATCH_ON_SUCCESS =
      Setting.of(
              "scratch.keepOnSuccess",
              FLAG,
              "false",
              "keep the working directory of a job that succeeded")
          .named("KEEP_SCRATCH_ON_SUCCESS");

  static final Setting<Path> ARTIFACTS_FOLDER =
      Setting.of(
          "artifacts.folder", PATH, "holds results/{jobId}/{name}; the folder itself unless given");

  static final Concern CONCERN =
      new Concern(
          "Files",
          List.of(FOLDER, SCRATCH_FOLDER, KEEP_SCRATCH_ON_SUCCESS, ARTIFACTS_FOLDER),
          StorageConfig::read);

  static StorageConfig read(SettingValues values) {
    Path folder = values.get(FOLDER);
    return new StorageConfig(
        folder,
        values.getOr(SCRATCH_FOLDER, () -> folder.resolve("scratch")),
        values.get(KEEP_SCRATCH_ON_SUCCESS),
        values.getOr(ARTIFACTS_FOLDER, () -> folder.resolve("")));
  }

  public Scratch scratch() {
    return new Scratch(scratchFolder, keepScratchOnSuccess);
  }

  public FolderStore artifacts() {
    return new FolderStore(artifactsFolder);
  }
}
