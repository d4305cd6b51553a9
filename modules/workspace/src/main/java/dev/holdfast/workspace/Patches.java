package dev.holdfast.workspace;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.workspace.git.Sha256;
import dev.holdfast.workspace.git.Synced;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The checkpoints of a job as files: {@code patches/steps/step-0001.patch} with {@code
 * state/steps/step-0001.json}. The second is written last, and makes the first count.
 */
public final class Patches {
  private static final Pattern STATE = Pattern.compile("step-(\\d{4,9})\\.json");

  private final Path patches;
  private final Path states;
  private final Codec codec;

  public Patches(Path folder, Codec codec) {
    this.patches = folder.resolve("patches/steps");
    this.states = folder.resolve("state/steps");
    this.codec = codec;
  }

  public Path patch(int stepIndex) {
    return patches.resolve("step-%04d.patch".formatted(stepIndex));
  }

  public Path state(int stepIndex) {
    return states.resolve("step-%04d.json".formatted(stepIndex));
  }

  public void write(Checkpoint checkpoint, Path patch) throws IOException {
    int index = checkpoint.stepIndex();
    if (index < 1 || !Sha256.of(patch).equals(checkpoint.diffHash())) {
      throw new IllegalArgumentException(
          "no checkpoint: a step counts from 1 and its patch has its hash");
    }
    // One that is replaced does not count while its patch is already another.
    Synced.delete(state(index));
    Synced.copy(patch, patch(index));
    Synced.write(state(index), codec.encode(checkpoint).text());
  }

  /** From the first step on. A gap is an error: those behind it could not be replayed. */
  public List<Checkpoint> read() throws IOException {
    List<Checkpoint> all = new ArrayList<>();
    for (int index : indexes()) {
      if (index != all.size() + 1) {
        throw new IOException(
            "%s is missing, but %s is there"
                .formatted(state(all.size() + 1), state(index).getFileName()));
      }
      all.add(read(index));
    }
    return all;
  }

  private Checkpoint read(int index) throws IOException {
    try {
      return codec.decode(new Json(Files.readString(state(index))), Checkpoint.class);
    } catch (RefusedException damaged) {
      throw new IOException(state(index) + " is damaged: " + damaged.getMessage(), damaged);
    }
  }

  /** Drops this step and all behind it, the last one first. */
  public void dropFrom(int stepIndex) throws IOException {
    for (int index : indexes().descendingSet()) {
      if (index >= stepIndex) {
        Synced.delete(state(index));
        Synced.delete(patch(index));
      }
    }
  }

  private NavigableSet<Integer> indexes() throws IOException {
    NavigableSet<Integer> indexes = new TreeSet<>();
    if (!Files.isDirectory(states)) {
      return indexes;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(states)) {
      for (Path file : files) {
        Matcher state = STATE.matcher(file.getFileName().toString());
        if (state.matches()) {
          indexes.add(Integer.valueOf(state.group(1)));
        }
      }
    }
    return indexes;
  }
}
