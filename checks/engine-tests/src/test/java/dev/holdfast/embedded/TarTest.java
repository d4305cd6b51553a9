package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TarTest {
  @TempDir(factory = OpenFolder.class)
  Path folder;

  private static byte[] entry(char type, String name, String mode, String link, String content) {
    byte[] body = content.getBytes(StandardCharsets.UTF_8);
    byte[] block = new byte[512 + (body.length + 511) / 512 * 512];
    put(block, 0, name);
    put(block, 100, mode);
    put(block, 124, Integer.toOctalString(body.length));
    block[156] = (byte) type;
    put(block, 157, link);
    System.arraycopy(body, 0, block, 512, body.length);
    return block;
  }

  private static void put(byte[] block, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }

  private void extract(byte[]... entries) throws IOException {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    for (byte[] entry : entries) {
      archive.write(entry);
    }
    archive.write(new byte[1024]);
    Tar.extract(new ByteArrayInputStream(archive.toByteArray()), folder.resolve("out"));
  }

  @Test
  void files_modes_and_links_are_extracted_unchanged() throws IOException {
    extract(
        entry('5', "bin/", "0000755", "", ""),
        entry('0', "bin/run", "0000755", "", "x".repeat(700)),
        entry('0', "deep/er/file", "0000640", "", ""),
        entry('2', "bin/again", "0000777", "run", ""));
    Path run = folder.resolve("out/bin/run");
    assertThat(run).hasContent("x".repeat(700));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(run)))
        .isEqualTo("rwxr-xr-x");
    assertThat(folder.resolve("out/deep/er/file")).isEmptyFile();
    assertThat(Files.readSymbolicLink(folder.resolve("out/bin/again"))).hasToString("run");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../evil", "/tmp/evil", "a/../../evil"})
  void an_entry_outside_the_folder_is_refused(String name) {
    assertThatThrownBy(() -> extract(entry('0', name, "0000644", "", "x")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("leaves its folder");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../..", "/etc", "a/.."})
  void a_link_to_outside_the_folder_is_refused(String target) {
    assertThatThrownBy(() -> extract(entry('2', "link", "0000777", target, "")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("leaves its folder");
  }

  @Test
  void nothing_is_written_through_a_link() {
    assertThatThrownBy(
            () ->
                extract(
                    entry('2', "link", "0000777", "target", ""),
                    entry('0', "link", "0000644", "", "x")))
        .isInstanceOf(IOException.class);
    assertThat(folder.resolve("out/target")).doesNotExist();
  }

  @Test
  void an_archive_that_ends_early_is_refused() {
    byte[] whole = entry('0', "file", "0000644", "", "x".repeat(600));
    byte[] cut = Arrays.copyOf(whole, 700);
    assertThatThrownBy(() -> Tar.extract(new ByteArrayInputStream(cut), folder.resolve("out")))
        .isInstanceOf(IOException.class);
  }
}
