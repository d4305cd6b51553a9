package dev.holdfast.worker.artifact;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Stores artifacts at {@code results/{jobId}/{name}}. A reader sees a complete file or none,
 * whatever two workers do at once.
 */
public interface ArtifactStore {
  /** The store's own name, so that artifacts of another store are not searched here. */
  String id() throws IOException;

  /** Copies the file into the store, durable but not yet published. */
  Staged stage(Lease lease, String name, Path file) throws IOException;

  /** Whether the artifact is stored here, complete and unchanged. */
  boolean holds(JobId job, PublishedArtifact artifact) throws IOException;

  /** Throws away what attempts have staged and not published. */
  void tidy(JobId job) throws IOException;

  /** Deletes all that the job has published. */
  void delete(JobId job) throws IOException;

  /** A file in the store that readers do not see yet. */
  interface Staged {
    Artifact artifact();

    /**
     * Puts it in its place. False when a later attempt of the job has published: then this one is
     * too late and has changed nothing.
     */
    boolean publish() throws IOException;

    void discard();
  }
}
