package dev.holdfast.worker.artifact;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Plural;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Private folders of attempts, at {@code {root}/{jobId}/{attempt}}: gone with success, kept after a
 * failure, so that its cause can be found.
 */
public final class Scratch {
  private static final Logger log = LoggerFactory.getLogger(Scratch.class);

  /** Holdfast's own corner of a scratch folder. */
  public static final String OURS = ".holdfast";

  private static final String LOCK = "lock";

  private final Path root;
  private final boolean keepOnSuccess;

  public Scratch(Path root, boolean keepOnSuccess) {
    this.root = root.toAbsolutePath().normalize();
    this.keepOnSuccess = keepOnSuccess;
  }

  /** A scratch folder on disk. */
  public record Kept(Lease lease, Path folder, long bytes, Instant changedAt, boolean inUse) {}

  /** A folder in use: its lock keeps it from being cleaned up, and ends with the process. */
  public static final class Open implements AutoCloseable {
    private final Path folder;
    private final FileChannel lock;

    Open(Path folder, FileChannel lock) {
      this.folder = folder;
      this.lock = lock;
    }

    public Path folder() {
      return folder;
    }

    @Override
    public void close() {
      try {
        lock.close();
      } catch (IOException e) {
        log.debug("the lock of {} could not be closed", folder, e);
      }
    }
  }

  public Open open(Lease lease) throws IOException {
    Path folder = folder(lease);
    Path ours = Files.createDirectories(folder.resolve(OURS));
    FileChannel channel =
        FileChannel.open(ours.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (channel.tryLock() == null) {
      channel.close();
      throw new FileAlreadyExistsException(folder + " is in use by another process");
    }
    return new Open(folder, channel);
  }

  private Path folder(Lease lease) {
    return root.resolve(lease.job().toString()).resolve(Integer.toString(lease.attempt()));
  }

  // ---- how an attempt ended

  /** Also deletes what earlier attempts left on this machine: it is not needed any more. */
  public void succeeded(Lease lease) {
    if (keepOnSuccess) {
      return;
    }
    Path job = root.resolve(lease.job().toString());
    try {
      FileTrees.deleteQuietly(job);
    } catch (IOException e) {
      log.warn("scratch {} could not be deleted: {}", job, e.toString());
    }
  }

  public void failed(Lease lease) {
    Path folder = folder(lease);
    try {
      log.info(
          "scratch {} is kept: {}", folder, Plural.of(FileTrees.extent(folder).bytes(), "byte"));
    } catch (IOException e) {
      log.warn("scratch {} could not be measured: {}", folder, e.toString());
    }
  }

  /** Neither succeeded nor failed: cancelled, released, or taken over by another attempt. */
  public void dropped(Lease lease) {
    Path folder = folder(lease);
    try {
      FileTrees.deleteQuietly(folder);
      deleteIfEmpty(root.resolve(lease.job().toString()));
    } catch (IOException e) {
      log.warn("scratch {} could not be deleted: {}", folder, e.toString());
    }
  }

  private static void deleteIfEmpty(Path folder) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      if (entries.iterator().hasNext()) {
        return;
      }
    } catch (NoSuchFileException e) {
      return;
    }
    Files.deleteIfExists(folder);
  }

  // ---- for people

  /** All scratch folders, oldest change first. */
  public List<Kept> list() throws IOException {
    List<Kept> kept = new ArrayList<>();
    if (Files.isDirectory(root)) {
      for (Path job : folders(root)) {
        for (Path attempt : folders(job)) {
          Lease lease = leaseOf(job, attempt);
          if (lease != null) {
            FileTrees.Extent extent = FileTrees.extent(attempt);
            kept.add(
                new Kept(lease, attempt, extent.bytes(), extent.changedAt(), isInUse(attempt)));
          }
        }
      }
    }
    kept.sort((a, b) -> a.changedAt().compareTo(b.changedAt()));
    return kept;
  }

  /** Deletes a folder that {@link #list} has found; false when an attempt is using it. */
  public boolean delete(Kept kept) throws IOException {
    if (isInUse(kept.folder())) {
      return false;
    }
    FileTrees.deleteQuietly(kept.folder());
    deleteIfEmpty(root.resolve(kept.lease().job().toString()));
    return true;
  }

  private static List<Path> folders(Path folder) throws IOException {
    List<Path> folders = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          folders.add(entry);
        }
      }
    } catch (NoSuchFileException e) {
      log.trace("{} is gone", folder);
    }
    return folders;
  }

  /** Null for a folder that is not ours. */
  private static @Nullable Lease leaseOf(Path job, Path attempt) {
    try {
      return new Lease(
          JobId.parse(job.getFileName().toString()),
          Integer.parseInt(attempt.getFileName().toString()));
    } catch (IllegalArgumentException notOurs) {
      return null;
    }
  }

  private static boolean isInUse(Path folder) throws IOException {
    try (FileChannel channel =
        FileChannel.open(folder.resolve(OURS).resolve(LOCK), StandardOpenOption.WRITE)) {
      return channel.tryLock() == null;
    } catch (NoSuchFileException neverUsed) {
      return false;
    } catch (OverlappingFileLockException ofThisProcess) {
      return true;
    }
  }
}
