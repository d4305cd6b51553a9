package dev.holdfast.process;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds programs the way a shell would, to say which one is missing before anything is started. */
public final class Programs {
  private Programs() {}

  /** The file that would be run: as it is when it names a folder, else the first on the path. */
  public static Path find(String program, Path folder, @Nullable String path)
      throws NoSuchProgramException {
    try {
      return program.contains("/") ? named(folder.resolve(program)) : onPath(program, path);
    } catch (InvalidPathException impossible) {
      throw new NoSuchProgramException("program '" + program + "' cannot be a file's name");
    }
  }

  private static Path named(Path file) throws NoSuchProgramException {
    if (!Files.exists(file)) {
      throw new NoSuchProgramException("program " + file + " does not exist");
    }
    if (!runs(file)) {
      throw new NoSuchProgramException(
          "program " + file + " is not executable: chmod +x, or name its interpreter first");
    }
    return file;
  }

  private static Path onPath(String program, @Nullable String path) throws NoSuchProgramException {
    for (String folder : (path == null ? "" : path).split(":", -1)) {
      // An empty entry would mean the working folder, which whoever fills it could choose.
      if (!folder.isEmpty() && runs(Path.of(folder, program))) {
        return Path.of(folder, program);
      }
    }
    throw new NoSuchProgramException(
        "program '%s' is not on the PATH (%s): install it".formatted(program, path));
  }

  private static boolean runs(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
