package dev.holdfast.workspace.git;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Says what a step has changed inside a submodule, which is in no patch: there it is a commit id.
 * The submodule's own objects and index are read, and none of its settings.
 */
final class Submodules {
  private static final String GIT_FILE = "gitdir: ";
  private static final int MOST_GIT_FILE = 8 << 10;
  private static final int NAMES_SHOWN = 5;

  private final Git git;
  private final Map<String, String> settings;

  /** One whose files are there. */
  record Submodule(String name, Path folder, String commit) {}

  Submodules(Git git, Map<String, String> settings) {
    this.git = git;
    this.settings = settings;
  }

  /** Empty when it is as its commit has it. */
  Optional<String> warning(Submodule submodule) throws IOException {
    try {
      List<String> changed = changed(submodule);
      return changed.isEmpty()
          ? Optional.empty()
          : Optional.of(
              "'%s' is a submodule, what was changed in it is not in the patch: %s%s"
                  .formatted(
                      submodule.name(),
                      String.join(", ", changed.subList(0, Math.min(NAMES_SHOWN, changed.size()))),
                      changed.size() > NAMES_SHOWN
                          ? " and " + (changed.size() - NAMES_SHOWN) + " more"
                          : ""));
    } catch (GitException | InvalidPathException odd) {
      return Optional.of(
          "'%s' is a submodule that cannot be compared with its commit; what was changed in it is not in the patch"
              .formatted(submodule.name()));
    }
  }

  private List<String> changed(Submodule submodule) throws IOException {
    Path gitDir = gitDir(submodule.folder());
    try (OwnGitDir own = OwnGitDir.create(git.folder(), submodule.commit())) {
      Path index = own.folder().resolve("index");
      Git.Place place =
          new Git.Place(
              submodule.folder(),
              Map.of(
                  "GIT_DIR", own.folder().toString(),
                  "GIT_OBJECT_DIRECTORY",
                      Files.createDirectory(own.folder().resolve("objects")).toString(),
                  "GIT_ALTERNATE_OBJECT_DIRECTORIES", gitDir.resolve("objects").toString(),
                  "GIT_WORK_TREE", submodule.folder().toString(),
                  "GIT_INDEX_FILE", index.toString()),
              new HashMap<>(settings));
      Path known = gitDir.resolve("index");
      if (Files.isRegularFile(known, LinkOption.NOFOLLOW_LINKS)) {
        // It remembers what each file looked like, so that only touched ones are read.
        Files.copy(known, index);
      } else {
        git.run(place, "read-tree", submodule.commit());
      }
      git.run(place, "add", "--all");
      List<String> names = Collections.synchronizedList(new ArrayList<>());
      git.run(
          place,
          line -> names.add(FileNames.read(line)),
          () -> {},
          "diff-index",
          "--cached",
          "--name-only",
          "--ignore-submodules=all",
          submodule.commit());
      return names;
    }
  }

  private static Path gitDir(Path folder) throws IOException {
    Path file = folder.resolve(".git");
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      return file;
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > MOST_GIT_FILE) {
      throw GitException.local(file + " does not say where the submodule's objects are");
    }
    String text = Files.readString(file).strip();
    return folder.resolve(text.startsWith(GIT_FILE) ? text.substring(GIT_FILE.length()) : text);
  }
}
