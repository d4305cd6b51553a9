package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import java.nio.file.Path;
import java.time.Duration;

/** Git workspaces of jobs of kind 'workspace'. */
@Section(title = "Workspaces", key = "workspace")
public record WorkspaceConfig(
    @Declared(
            inFolder = "cache",
            about = "holds mirrors of repositories; 'cache' in the folder unless given")
        Path cacheFolder,
    @Declared(
            value = "2h",
            least = "1s",
            most = "7d",
            about = "how long one git command of a worker may take")
        Duration gitTimeout,
    // The most that the database takes is Limits.PATCH_BYTES.
    @Declared(
            value = "20MB",
            least = "1MB",
            most = "64MB",
            about = "largest patch that one step may leave")
        long patchSize) {}
