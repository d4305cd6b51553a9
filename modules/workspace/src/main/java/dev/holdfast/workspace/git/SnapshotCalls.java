package dev.holdfast.workspace.git;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Calls of git for snapshots: each has an {@link OwnGitDir}, and objects that say nothing. */
final class SnapshotCalls {
  static final Map<String, String> SETTINGS =
      Map.of(
          // Names that only Windows and macOS would stumble over are names.
          "core.protectNTFS", "false",
          "core.protectHFS", "false",
          "core.ignoreCase", "false",
          "core.precomposeUnicode", "false",
          // What a program cannot set back is what tells of a change.
          "core.trustctime", "true",
          "core.checkStat", "default",
          "advice.addEmbeddedRepo", "false");

  private final Path objects;
  private final Path work;
  private final Git git;

  /** Work for git in a repository whose objects have ids like this one. */
  record Call(String id, Path index) {}

  SnapshotCalls(Path objects, Path work, Git git) {
    this.objects = objects;
    this.work = work;
    this.git = git;
  }

  Path objects() {
    return objects;
  }

  /** What git is to do with a file. */
  interface FileCall {
    void run(Path file) throws IOException;
  }

  void withFile(String text, FileCall call) throws IOException {
    Path file = Files.createTempFile(git.folder(), "git-", ".in");
    try {
      Files.writeString(file, text);
      call.run(file);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  List<String> run(Call call, String... arguments) throws IOException {
    OwnGitDir.withoutAlternates(objects);
    try (OwnGitDir own = OwnGitDir.create(git.folder(), call.id())) {
      return git.run(place(own, call), arguments);
    }
  }

  /** What git said beside. */
  List<String> run(Call call, Consumer<String> out, Git.Onlooker onlooker, String... arguments)
      throws IOException {
    OwnGitDir.withoutAlternates(objects);
    try (OwnGitDir own = OwnGitDir.create(git.folder(), call.id())) {
      return git.run(place(own, call), out, onlooker, arguments);
    }
  }

  private Git.Place place(OwnGitDir own, Call call) {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    // Patterns, and nothing that runs.
    Path exclude = work.resolve(".git/info/exclude");
    if (Files.isRegularFile(exclude, LinkOption.NOFOLLOW_LINKS)) {
      settings.put("core.excludesFile", exclude.toString());
    }
    return new Git.Place(
        work,
        Map.of(
            "GIT_DIR", own.folder().toString(),
            "GIT_OBJECT_DIRECTORY", objects.toString(),
            "GIT_WORK_TREE", work.toString(),
            "GIT_INDEX_FILE", call.index().toString()),
        settings);
  }
}
