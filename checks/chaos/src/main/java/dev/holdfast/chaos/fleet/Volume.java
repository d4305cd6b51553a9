package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A file system of its own, of limited size, that can be filled up and emptied again. */
public final class Volume implements AutoCloseable {
  private static final int CHUNK = 1 << 16;

  private final Path image;
  private final Path place;
  private boolean mounted = true;

  private Volume(Path image, Path place) {
    this.image = image;
    this.place = place;
  }

  /** Whether this process may mount one. */
  public static boolean isPossible() {
    try {
      Path folder = Files.createTempDirectory("chaos-volume-");
      try (Volume volume = mount(folder.resolve("image"), folder.resolve("place"), 8)) {
        return volume.mounted;
      } finally {
        Files.deleteIfExists(folder.resolve("place"));
        Files.deleteIfExists(folder);
      }
    } catch (IOException | IllegalStateException notAllowed) {
      return false;
    }
  }

  /**
   * @param place becomes a folder of this size
   */
  public static Volume mount(Path image, Path place, int megabytes) throws IOException {
    Files.createDirectories(place);
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(megabytes * 1024L * 1024);
    }
    try {
      run("mkfs.ext4", "-q", "-F", "-m", "0", image.toString());
      run("mount", "-o", "loop", image.toString(), place.toString());
      Files.deleteIfExists(place.resolve("lost+found"));
      return new Volume(image, place);
    } catch (IOException | IllegalStateException e) {
      Files.deleteIfExists(image);
      throw e;
    }
  }

  private static void run(String... command) throws IOException {
    Process process =
        new ProcessBuilder(List.of(command))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (process.onExit().join().exitValue() != 0) {
      throw new IllegalStateException(command[0] + " failed");
    }
  }

  private Path ballast() {
    return place.resolve("ballast");
  }

  /** Until nothing fits any more. */
  public void fill() {
    try {
      // At once; the rest is written.
      long room = Files.getFileStore(place).getUsableSpace();
      if (room > CHUNK) {
        run("fallocate", "-l", Long.toString(room - room / 50), ballast().toString());
      }
    } catch (IOException | IllegalStateException taken) {
      // By others meanwhile.
    }
    try (RandomAccessFile file = new RandomAccessFile(ballast().toFile(), "rw")) {
      file.seek(file.length());
      byte[] chunk = new byte[CHUNK];
      for (int size = CHUNK; size > 0; size /= 2) {
        writeUntilFull(file, chunk, size);
      }
    } catch (IOException full) {
      // As it should be.
    }
  }

  private static void writeUntilFull(RandomAccessFile file, byte[] chunk, int size) {
    try {
      while (true) {
        file.write(chunk, 0, size);
      }
    } catch (IOException full) {
      // Less may still fit.
    }
  }

  public void empty() {
    try {
      Files.deleteIfExists(ballast());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    if (mounted) {
      mounted = false;
      try {
        // Lazily: a process that is just ending may have a file open.
        run("umount", "--lazy", place.toString());
        Files.deleteIfExists(image);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
