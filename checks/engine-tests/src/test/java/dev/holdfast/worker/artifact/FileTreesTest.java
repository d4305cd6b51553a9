package dev.holdfast.worker.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreesTest {
  @TempDir Path folder;

  @Test
  void a_tree_is_deleted_without_following_symbolic_links() throws Exception {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.writeString(elsewhere.resolve("kept"), "x");
    Path tree = Files.createDirectories(folder.resolve("tree/a/b"));
    Files.writeString(tree.resolve("file"), "x");
    Files.createSymbolicLink(tree.resolve("link"), elsewhere);
    Files.setPosixFilePermissions(tree, PosixFilePermissions.fromString("---------"));
    FileTrees.delete(folder.resolve("tree"));
    assertThat(folder.resolve("tree")).doesNotExist();
    assertThat(elsewhere.resolve("kept")).exists();
    assertThatCode(() -> FileTrees.delete(folder.resolve("tree"))).doesNotThrowAnyException();
  }
}
