package dev.holdfast.worker.artifact;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.LeaseLostException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes what attempts have made: staged in the store → accepted by the source, which is the
 * fence → moved to its place. What was accepted and not moved, because its worker died just then,
 * is moved by the next attempt.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Publisher {
  private static final Logger log = LoggerFactory.getLogger(Publisher.class);

  /** What it asks of the job source, which may be unavailable for a while. */
  public interface Source {
    public Ack publish(Publication publication);

    List<PublishedArtifact> artifacts(Lease lease);
  }

  /** What a retry finds done: the result may be none. */
  public record Finished(List<Artifact> artifacts, @Nullable Json result) {}

  private final ArtifactStore store;
  private final Source source;

  public Publisher(ArtifactStore store, Source source) {
    this.store = store;
    this.source = source;
  }

  /** All of them, or none. Throws {@link LeaseLostException} when the attempt came too late. */
  public List<Artifact> publish(
      Lease lease, Map<String, Path> files, @Nullable Json result, Runnable beforeAsking) {
    List<ArtifactStore.Staged> staged = new ArrayList<>();
    boolean accepted = false;
    try {
      for (Map.Entry<String, Path> file : files.entrySet()) {
        staged.add(staged(lease, file.getKey(), file.getValue()));
      }
      List<Artifact> artifacts = staged.stream().map(ArtifactStore.Staged::artifact).toList();
      beforeAsking.run();
      Ack ack = source.publish(new Publication(lease, store.id(), artifacts, result));
      if (ack == Ack.LEASE_LOST) {
        throw new LeaseLostException(lease);
      }
      accepted = true;
      for (ArtifactStore.Staged file : staged) {
        if (!file.publish()) {
          throw new LeaseLostException(lease);
        }
      }
      return artifacts;
    } catch (ClosedByInterruptException stopped) {
      throw new CancelledException("interrupted while it was publishing");
    } catch (IOException e) {
      throw DiskErrors.failed("the artifacts could not be stored", e);
    } finally {
      // Once accepted, a file is the job's: if it could not be moved now, a retry does.
      if (!accepted) {
        staged.forEach(ArtifactStore.Staged::discard);
      }
    }
  }

  private ArtifactStore.Staged staged(Lease lease, String name, Path file) throws IOException {
    try {
      return store.stage(lease, name, file);
    } catch (NoSuchFileException | NotRegularFileException unfit) {
      throw FailedException.of(
          FailureCategory.USER_CODE,
          "ARTIFACT_MISSING",
          "there is no file %s to publish as '%s'%s"
              .formatted(
                  file,
                  name,
                  unfit instanceof NotRegularFileException ? ": it is no regular file" : ""));
    }
  }

  /**
   * Empty unless each of these artifacts is in the store, complete.
   *
   * @param damaged called for each that was published and is missing or damaged
   */
  public Optional<Finished> finished(Lease lease, List<String> names, Consumer<String> damaged) {
    if (names.isEmpty() || lease.attempt() == 1) {
      return Optional.empty();
    }
    Map<String, PublishedArtifact> published =
        source.artifacts(lease).stream()
            .collect(Collectors.toMap(a -> a.artifact().name(), Function.identity()));
    try {
      for (String name : names) {
        PublishedArtifact artifact = published.get(name);
        if (artifact == null) {
          return Optional.empty();
        }
        if (!store.holds(lease.job(), artifact)) {
          log.warn("{}: its artifact '{}' is missing or damaged, so it runs again", lease, name);
          damaged.accept(name);
          return Optional.empty();
        }
      }
    } catch (IOException e) {
      log.warn("{}: its artifacts could not be read, so it runs again", lease, e);
      return Optional.empty();
    }
    return Optional.of(
        new Finished(
            names.stream().map(published::get).map(PublishedArtifact::artifact).toList(),
            names.stream()
                .map(published::get)
                .map(PublishedArtifact::result)
                .filter(result -> result != null)
                .findFirst()
                .orElse(null)));
  }

  /** What was staged by attempts that never came to publish it is no longer wanted. */
  public void tidy(Lease lease) {
    try {
      store.tidy(lease.job());
    } catch (IOException e) {
      log.warn("{}: staged files could not be deleted: {}", lease, e.toString());
    }
  }
}
