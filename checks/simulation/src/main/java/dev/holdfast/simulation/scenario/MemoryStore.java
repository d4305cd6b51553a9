package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.artifact.ArtifactStore;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** A store that all processes share, as a folder on a network is. */
final class MemoryStore implements ArtifactStore {
  private record Stored(int attempt, String sha256) {}

  private final Map<String, Stored> published = new HashMap<>();
  private final Consumer<Lease> placed;

  /**
   * @param placed told whose file is put in its place
   */
  MemoryStore(Consumer<Lease> placed) {
    this.placed = placed;
  }

  @Override
  public String id() {
    return "store";
  }

  private static String key(JobId job, String name) {
    return job + "/" + name;
  }

  @Override
  public Staged stage(Lease lease, String name, Path file) {
    Artifact artifact = new Artifact(name, 1, "%064x".formatted(lease.attempt()));
    return new Staged() {
      @Override
      public Artifact artifact() {
        return artifact;
      }

      @Override
      public boolean publish() {
        placed.accept(lease);
        Stored there = published.get(key(lease.job(), name));
        if (there != null && there.attempt() > lease.attempt()) {
          return false;
        }
        published.put(key(lease.job(), name), new Stored(lease.attempt(), artifact.sha256()));
        return true;
      }

      @Override
      public void discard() {}
    };
  }

  @Override
  public boolean holds(JobId job, PublishedArtifact artifact) {
    Stored there = published.get(key(job, artifact.artifact().name()));
    return there != null && there.sha256().equals(artifact.artifact().sha256());
  }

  @Override
  public void tidy(JobId job) {}

  @Override
  public void delete(JobId job) {}
}
