package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.PATH;
import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.size;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.value.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Git workspaces of jobs of kind 'workspace'. */
public record WorkspaceConfig(Path cacheFolder, Duration gitTimeout, int patchBytes) {
  private static final long MEGABYTE = 1 << 20;

  static final Setting<Path> CACHE_FOLDER =
      Setting.of(
          "workspace.cacheFolder",
          PATH,
          "holds mirrors of repositories; 'cache' in the folder unless given");

  static final Setting<Duration> GIT_TIMEOUT =
      Setting.of(
          "workspace.gitTimeout",
          duration(Duration.ofSeconds(1), Duration.ofDays(7)),
          "2h",
          "how long one git command of a worker may take");

  static final Setting<Long> PATCH_SIZE =
      Setting.of(
          "workspace.patchSize",
          size(MEGABYTE, Limits.PATCH_BYTES),
          "20MB",
          "largest patch that one step may leave");

  static final Concern CONCERN =
      new Concern(
          "Workspaces", List.of(CACHE_FOLDER, GIT_TIMEOUT, PATCH_SIZE), WorkspaceConfig::read);

  static WorkspaceConfig read(SettingValues values) {
    return new WorkspaceConfig(
        values.getOr(CACHE_FOLDER, () -> values.get(StorageConfig.FOLDER).resolve("cache")),
        values.get(GIT_TIMEOUT),
        Math.toIntExact(values.get(PATCH_SIZE)));
  }
}
