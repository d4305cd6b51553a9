package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.JacksonCodec;
import dev.holdfast.model.value.Codec;
import dev.holdfast.workspace.git.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PatchesTest {
  private static final Codec CODEC = new JacksonCodec();

  @TempDir Path folder;

  private Patches patches() {
    return new Patches(folder, CODEC);
  }

  private Checkpoint write(int index, String text) throws IOException {
    Path patch = Files.writeString(folder.resolve("changes.patch"), text);
    Checkpoint checkpoint =
        new Checkpoint(
            "step-" + index,
            index,
            2,
            Sha256.of(patch),
            List.of("a.txt", "größe \"1\"\n"),
            "did it",
            Instant.parse("2026-01-01T00:00:00Z"),
            Instant.parse("2026-01-01T00:01:00.5Z"),
            "b".repeat(40),
            "c".repeat(40));
    patches().write(checkpoint, patch);
    return checkpoint;
  }

  @Test
  void a_checkpoint_is_two_files_with_these_names_and_fields() throws IOException {
    Checkpoint first = write(1, "one");
    assertThat(folder.resolve("patches/steps/step-0001.patch")).hasContent("one");
    assertThat(folder.resolve("state/steps/step-0001.json"))
        .hasContent(
            "{\"stepId\":\"step-1\",\"stepIndex\":1,\"attempt\":2,\"diffHash\":\""
                + first.diffHash()
                + "\",\"changedFiles\":[\"a.txt\",\"größe \\\"1\\\"\\n\"],\"summary\":\"did it\","
                + "\"startedAt\":\"2026-01-01T00:00:00Z\",\"finishedAt\":\"2026-01-01T00:01:00.500Z\","
                + "\"baseline\":\""
                + first.baseline()
                + "\",\"tree\":\""
                + first.tree()
                + "\"}");
    assertThat(patches().read()).containsExactly(first);
  }

  @Test
  void steps_are_read_in_order_and_the_last_write_counts() throws IOException {
    assertThat(patches().read()).isEmpty();
    Checkpoint first = write(1, "one");
    write(2, "two");
    Checkpoint second = write(2, "two again");
    assertThat(patches().read()).containsExactly(first, second);
    assertThat(patches().patch(2)).hasContent("two again");
  }

  @Test
  void a_patch_without_its_state_does_not_count() throws IOException {
    Checkpoint first = write(1, "one");
    write(2, "two");
    Files.delete(patches().state(2));
    Files.writeString(patches().state(2).resolveSibling("step-0002.json.new"), "{");
    assertThat(patches().read()).containsExactly(first);
  }

  /** A crash between the two writes leaves an ignored patch, never a step without a patch. */
  @Test
  void a_state_is_written_only_when_its_patch_is_there() throws IOException {
    Checkpoint first = write(1, "one");
    write(2, "two");
    // No file can take the place of a folder that is not empty.
    Files.delete(patches().patch(2));
    Files.createFile(Files.createDirectory(patches().patch(2)).resolve("in-the-way"));
    assertThatThrownBy(() -> write(2, "two again")).isInstanceOf(IOException.class);
    assertThat(patches().state(2)).doesNotExist();
    assertThat(patches().read()).containsExactly(first);
  }

  @Test
  void a_gap_and_a_damaged_file_are_reported_by_name() throws IOException {
    write(1, "one");
    write(2, "two");
    Files.delete(patches().state(1));
    assertThatThrownBy(() -> patches().read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("step-0001.json is missing, but step-0002.json is there");
    Files.writeString(patches().state(1), "{");
    assertThatThrownBy(() -> patches().read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("step-0001.json is damaged");
  }

  @Test
  void a_patch_that_does_not_match_its_checkpoint_is_refused() throws IOException {
    Checkpoint first = write(1, "one");
    Path other = Files.writeString(folder.resolve("other.patch"), "other");
    assertThatThrownBy(() -> patches().write(first, other))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(patches().patch(1)).hasContent("one");
  }

  @Test
  void a_step_is_dropped_with_all_later_steps() throws IOException {
    Checkpoint first = write(1, "one");
    write(2, "two");
    write(3, "three");
    patches().dropFrom(2);
    assertThat(patches().read()).containsExactly(first);
    assertThat(patches().patch(2)).doesNotExist();
    assertThat(patches().patch(3)).doesNotExist();
  }
}
