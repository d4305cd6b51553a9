package dev.holdfast.workspace.git;

import dev.holdfast.worker.artifact.FileTrees;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What git reads before it does what it is asked: configuration, attributes, hooks, alternates. A
 * program that may write there decides what git runs, and as the worker. So all of it is written
 * anew before each call: for a snapshot a folder of its own, which is deleted afterwards, beside
 * objects that say nothing; for a mirror in the mirror, where nothing else is left.
 */
final class OwnGitDir implements AutoCloseable {
  /** What a git directory must have, or may have of a clone; the rest can only change what runs. */
  private static final Set<String> DATA =
      Set.of("HEAD", "packed-refs", "shallow", "refs", "objects", "config");

  // The last word on every file: its bytes as they are, whatever a .gitattributes says.
  private static final String ATTRIBUTES =
      "* -text -ident -filter !working-tree-encoding !diff !whitespace !merge\n";

  private static final Pattern SHA_256 =
      Pattern.compile(
          "^\\s*objectformat\\s*=\\s*sha256\\s*$", Pattern.MULTILINE | Pattern.CASE_INSENSITIVE);

  private static final int SHA_256_CHARS = 64;

  private static final Set<PosixFilePermission> OURS_ALONE =
      PosixFilePermissions.fromString("rwx------");

  private final Path folder;

  private OwnGitDir(Path folder) {
    this.folder = folder;
  }

  /**
   * For one call of git.
   *
   * @param parent where we may write
   * @param id of any object of the repository, for the length of its ids
   */
  static OwnGitDir create(Path parent, String id) throws IOException {
    // By a name that nobody knows, and for the eyes of our user alone.
    OwnGitDir made =
        new OwnGitDir(Files.createTempDirectory(Files.createDirectories(parent), "git-"));
    Files.createDirectory(made.folder.resolve("refs"));
    Files.writeString(made.folder.resolve("HEAD"), "ref: refs/heads/main\n");
    Files.writeString(made.folder.resolve("config"), config(id.length() == SHA_256_CHARS, false));
    Files.writeString(
        Files.createDirectory(made.folder.resolve("info")).resolve("attributes"), ATTRIBUTES);
    return made;
  }

  Path folder() {
    return folder;
  }

  @Override
  public void close() throws IOException {
    FileTrees.delete(folder);
  }

  /**
   * Leaves the mirror its objects and refs, with a configuration of ours. One without a folder of
   * objects is deleted, and one that leads elsewhere by links.
   */
  static void renew(Path mirror) throws IOException {
    if (!Files.exists(mirror, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Path objects = mirror.resolve("objects");
    if (Files.isSymbolicLink(mirror) || hasLinks(mirror) || !Files.isDirectory(objects)) {
      FileTrees.delete(mirror);
      return;
    }
    Files.setPosixFilePermissions(mirror, OURS_ALONE);
    Path config = mirror.resolve("config");
    boolean sha256 =
        Files.isRegularFile(config, LinkOption.NOFOLLOW_LINKS)
            && SHA_256.matcher(Files.readString(config)).find();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(mirror)) {
      for (Path one : all) {
        if (!DATA.contains(one.getFileName().toString())) {
          FileTrees.delete(one);
        }
      }
    }
    FileTrees.delete(config);
    Files.writeString(config, config(sha256, true), StandardOpenOption.CREATE_NEW);
    withoutAlternates(objects);
  }

  private static boolean hasLinks(Path mirror) {
    return DATA.stream().map(mirror::resolve).anyMatch(Files::isSymbolicLink)
        || Files.isSymbolicLink(mirror.resolve("objects/info"));
  }

  /** Objects are looked for here, and not where a program says. */
  static void withoutAlternates(Path objects) throws IOException {
    Path info = objects.resolve("info");
    if (!Files.isDirectory(objects, LinkOption.NOFOLLOW_LINKS)) {
      throw GitException.local("the objects in " + objects + " are gone, or no folder");
    }
    if (Files.isSymbolicLink(info)) {
      Files.delete(info);
    } else if (Files.isDirectory(info)) {
      FileTrees.delete(info.resolve("alternates"));
      FileTrees.delete(info.resolve("http-alternates"));
    }
  }

  private static String config(boolean sha256, boolean bare) {
    return "[core]\n\trepositoryformatversion = %d\n\tbare = %b\n%s"
        .formatted(sha256 ? 1 : 0, bare, sha256 ? "[extensions]\n\tobjectformat = sha256\n" : "");
  }
}
