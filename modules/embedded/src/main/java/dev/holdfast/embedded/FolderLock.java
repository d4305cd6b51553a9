package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One live Java process per folder; the kernel drops the lock however that process ends. */
final class FolderLock {
  // Closing any channel on a file drops this process's lock on it, so a second start in the same
  // process must be refused before it opens the file.
  private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private final FileChannel channel;

  private FolderLock(Path folder, FileChannel channel) {
    this.folder = folder;
    this.channel = channel;
  }

  static FolderLock acquire(Path folder, Path file) throws IOException {
    long self = ProcessHandle.current().pid();
    if (!HELD_HERE.add(folder)) {
      throw new FolderInUseException(folder, "this process (pid " + self + ")");
    }
    FileChannel channel = null;
    boolean locked = false;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        throw new FolderInUseException(folder, holder(file));
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap((self + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
      locked = true;
      return new FolderLock(folder, channel);
    } finally {
      if (!locked) {
        HELD_HERE.remove(folder);
        if (channel != null) {
          channel.close();
        }
      }
    }
  }

  private static String holder(Path file) throws IOException {
    String pid = Files.readString(file).strip();
    return pid.isEmpty() ? "another process" : "the process with pid " + pid;
  }

  void release() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot release the lock of folder " + folder, e);
    } finally {
      HELD_HERE.remove(folder);
    }
  }
}
