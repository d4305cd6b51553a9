package dev.holdfast.workspace.git;

import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OnlyWithAll
class LfsFilesTest {
  @TempDir Path folder;

  private Workspace create(String name) throws IOException {
    return Workspace.create(
        folder.resolve(name),
        new Repository(folder.resolve("source").toString(), "main"),
        null,
        folder.resolve("cache"),
        Git.installed(folder.resolve("home"), WorkspaceTest.path()));
  }

  @Test
  void content_that_lfs_puts_in_place_of_pointers_is_no_change() throws Exception {
    Sources.repository(folder.resolve("source"));
    String pointer =
        "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n'"
            + " $(sha256sum < %s | cut -d' ' -f1) $(wc -c < %s)";
    sh(
        folder.resolve("source"),
        "echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes;"
            + " for f in a b 'größe c'; do head -c 100000 /dev/urandom > ../\"$f\"; "
            + pointer.formatted("%s", "%s", "../\"$f\"", "../\"$f\"")
            + " > \"$f.bin\"; done; git add -A; git commit -q -m lfs");
    Workspace workspace = create("w");
    String fetch = "for f in a b 'größe c'; do cp ../../\"$f\" \"$f.bin\"; done";
    sh(workspace.work(), fetch);
    assertThat(workspace.changes().changedFiles()).isEmpty();
    sh(workspace.work(), "echo more >> b.bin; echo four >> a.txt");
    Changes step = workspace.changes();
    workspace.accept(step);
    assertThat(step.changedFiles()).containsExactly("a.txt", "b.bin");
    Path patch = Files.move(step.patch(), folder.resolve("step-0001.patch"));
    assertThat(workspace.changes().isEmpty()).isTrue();
    Workspace again = create("again");
    again.replay(patch, step.diffHash(), step.tree());
    assertThat(again.work().resolve("a.bin")).content().startsWith("version https://git-lfs");
    sh(again.work(), "cp ../../a a.bin");
    assertThat(again.changes().isEmpty()).isTrue();
    // Its mode is a change, and its content is none.
    sh(again.work(), "chmod +x a.bin");
    Changes executable = again.changes();
    assertThat(executable.changedFiles()).containsExactly("a.bin");
    assertThat(executable.patch()).content().contains("new mode 100755").hasSizeLessThan(200);
    again.accept(executable);
    assertThat(again.changes().isEmpty()).isTrue();
  }

  @Test
  void a_file_of_attributes_may_be_larger_than_memory() throws IOException {
    Path attributes = folder.resolve(".gitattributes");
    Files.writeString(attributes, "*.bin filter=lfs\n");
    assertThat(LfsFiles.areNamedIn(attributes)).isTrue();
    try (RandomAccessFile file = new RandomAccessFile(attributes.toFile(), "rw")) {
      file.setLength(3L << 30);
    }
    assertThat(LfsFiles.areNamedIn(attributes)).isFalse();
  }
}
