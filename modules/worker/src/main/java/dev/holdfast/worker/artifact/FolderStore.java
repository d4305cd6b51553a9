package dev.holdfast.worker.artifact;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Artifacts in a folder, which several workers may share.
 *
 * <p>A file is staged under {@code results/.staged/{jobId}/{attempt}/} and published by one atomic
 * move. The move is fenced without a lock: before an attempt moves its own file it takes away what
 * earlier attempts have staged, so that a worker that slept through the loss of its lease finds
 * nothing left to move.
 */
public final class FolderStore implements ArtifactStore {
  private static final Logger log = LoggerFactory.getLogger(FolderStore.class);
  private static final int BUFFER = 1 << 16;
  private static final String STAGED = ".staged";
  // No artifact's name begins with a dot.
  private static final String PART = ".part-";
  private static final String NAME_OF_STORE = ".store";

  private final Path results;
  private final Disk disk;
  private volatile String id = "";

  /** Waits until a file or a folder is on disk. */
  @FunctionalInterface
  interface Disk {
    void force(Path path, FileChannel open) throws IOException;
  }

  /** The folder that has the artifacts of all jobs. */
  public FolderStore(Path root) {
    this(root, (path, open) -> open.force(true));
  }

  FolderStore(Path root, Disk disk) {
    this.disk = disk;
    this.results = root.toAbsolutePath().normalize().resolve("results");
  }

  /** Where an artifact of that name is, or would be. */
  public Path path(JobId job, String name) {
    return results.resolve(job.toString()).resolve(Limits.artifactName(name));
  }

  @Override
  public String id() throws IOException {
    if (id.isEmpty()) {
      Path file = Files.createDirectories(results).resolve(NAME_OF_STORE);
      try {
        Files.writeString(file, UUID.randomUUID() + "\n", StandardOpenOption.CREATE_NEW);
      } catch (FileAlreadyExistsException named) {
        log.trace("{} has a name", results);
      }
      String read = Files.readString(file).strip();
      if (read.isEmpty()) {
        throw new IOException(file + " is empty: delete it, and the store gets a new name");
      }
      id = read;
    }
    return id;
  }

  // ---- staging

  @Override
  public Staged stage(Lease lease, String name, Path file) throws IOException {
    Limits.artifactName(name);
    // A link could lead anywhere, and opening a pipe would wait for its writer.
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw Files.exists(file, LinkOption.NOFOLLOW_LINKS)
          ? new NotRegularFileException(file)
          : new NoSuchFileException(file.toString());
    }
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      Path copy = staging(lease).resolve(name);
      return new StagedFile(lease, copy, kept(name, in, copy));
    }
  }

  /**
   * Takes what comes from elsewhere than a file, and may take its time. Until it is staged it lies
   * under a name of its own: the same file may be sent twice at once.
   */
  public Received receive(Lease lease, String name, InputStream in) throws IOException {
    Limits.artifactName(name);
    Path part = staging(lease).resolve(PART + UUID.randomUUID());
    return new Received(lease, part, kept(name, in, part));
  }

  /** What was received, and is not staged yet. */
  public final class Received {
    private final Lease lease;
    private final Path part;
    private final Artifact artifact;

    Received(Lease lease, Path part, Artifact artifact) {
      this.lease = lease;
      this.part = part;
      this.artifact = artifact;
    }

    /** In place of what was staged under the same name before. */
    public Staged stage() throws IOException {
      Path copy = part.resolveSibling(artifact.name());
      Files.move(part, copy, StandardCopyOption.ATOMIC_MOVE);
      return new StagedFile(lease, copy, artifact);
    }

    /** Does nothing to what is staged. */
    public void discard() {
      FolderStore.discard(part);
    }
  }

  private Path staging(Lease lease) throws IOException {
    return Files.createDirectories(stagedBy(lease.job(), lease.attempt()));
  }

  private Artifact kept(String name, InputStream in, Path copy) throws IOException {
    try {
      return copied(name, in, copy);
    } catch (IOException | RuntimeException e) {
      discard(copy);
      throw e;
    }
  }

  private Artifact copied(String name, InputStream in, Path copy) throws IOException {
    MessageDigest digest = sha256();
    long size = 0;
    try (FileChannel channel =
            FileChannel.open(
                copy,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
        OutputStream out = Channels.newOutputStream(channel)) {
      byte[] buffer = new byte[BUFFER];
      int read;
      while ((read = in.read(buffer)) >= 0) {
        digest.update(buffer, 0, read);
        out.write(buffer, 0, read);
        size += read;
      }
      disk.force(copy, channel);
    }
    return new Artifact(name, size, HexFormat.of().formatHex(digest.digest()));
  }

  private Path stagedBy(JobId job, int attempt) {
    return results.resolve(STAGED).resolve(job.toString()).resolve(Integer.toString(attempt));
  }

  private static void discard(Path copy) {
    try {
      Files.deleteIfExists(copy);
    } catch (IOException e) {
      log.warn("{} could not be deleted: {}", copy, e.getMessage());
    }
  }

  private final class StagedFile implements Staged {
    private final Lease lease;
    private final Path copy;
    private final Artifact artifact;

    StagedFile(Lease lease, Path copy, Artifact artifact) {
      this.lease = lease;
      this.copy = copy;
      this.artifact = artifact;
    }

    @Override
    public Artifact artifact() {
      return artifact;
    }

    @Override
    public boolean publish() throws IOException {
      removeBefore(lease);
      return move(copy, lease.job(), artifact.name());
    }

    @Override
    public void discard() {
      FolderStore.discard(copy);
    }
  }

  // ---- publishing

  private void removeBefore(Lease lease) throws IOException {
    Path all = results.resolve(STAGED).resolve(lease.job().toString());
    List<Path> earlier = new ArrayList<>();
    try (DirectoryStream<Path> attempts = Files.newDirectoryStream(all, "[0-9]*")) {
      for (Path attempt : attempts) {
        if (Integer.parseInt(attempt.getFileName().toString()) < lease.attempt()) {
          earlier.add(attempt);
        }
      }
    }
    for (Path attempt : earlier) {
      // Out of reach with one call; deleting may take a while.
      Path gone = all.resolve(".gone-" + UUID.randomUUID());
      try {
        Files.move(attempt, gone, StandardCopyOption.ATOMIC_MOVE);
      } catch (NoSuchFileException already) {
        continue;
      }
      FileTrees.deleteQuietly(gone);
    }
  }

  private boolean move(Path copy, JobId job, String name) throws IOException {
    Path folder = results.resolve(job.toString());
    if (Files.isSymbolicLink(folder)) {
      throw new NotDirectoryException(folder + " is a link; artifacts do not go through one");
    }
    boolean isNew = !Files.exists(folder);
    Files.createDirectories(folder);
    try {
      Files.move(copy, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException takenAway) {
      return false;
    }
    sync(folder);
    if (isNew) {
      sync(results);
    }
    return true;
  }

  /** Until its folder is on disk too, a moved file may be gone after a power cut. */
  private void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      disk.force(folder, channel);
    }
  }

  // ---- afterwards

  @Override
  public boolean holds(JobId job, PublishedArtifact published) throws IOException {
    if (!id().equals(published.store())) {
      return false;
    }
    Artifact artifact = published.artifact();
    if (isWhole(path(job, artifact.name()), artifact)) {
      return true;
    }
    // Its worker may have died between being accepted and moving the file: that is done here.
    Path copy = stagedBy(job, published.attempt()).resolve(artifact.name());
    return isWhole(copy, artifact) && move(copy, job, artifact.name());
  }

  private static boolean isWhole(Path file, Artifact artifact) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || Files.size(file) != artifact.size()) {
      return false;
    }
    MessageDigest digest = sha256();
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      byte[] buffer = new byte[BUFFER];
      int read;
      while ((read = in.read(buffer)) >= 0) {
        digest.update(buffer, 0, read);
      }
    }
    return HexFormat.of().formatHex(digest.digest()).equals(artifact.sha256());
  }

  @Override
  public void tidy(JobId job) throws IOException {
    FileTrees.deleteQuietly(results.resolve(STAGED).resolve(job.toString()));
  }

  @Override
  public void delete(JobId job) throws IOException {
    tidy(job);
    FileTrees.deleteQuietly(results.resolve(job.toString()));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
