package dev.holdfast.contract.lease;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import org.jspecify.annotations.Nullable;

/**
 * A file of an attempt, sent to the server. Its content is the body, and its name is in the path.
 */
public final class ArtifactUpload {
  private ArtifactUpload() {}

  /**
   * What it is answered.
   *
   * @param size and the others are null if the attempt does not hold its task
   */
  public record Answer(
      Ack ack, @Nullable String name, @Nullable Long size, @Nullable String sha256) {
    public static final Answer LOST = new Answer(Ack.LEASE_LOST, null, null, null);

    public static Answer of(Artifact artifact) {
      return new Answer(Ack.ACCEPTED, artifact.name(), artifact.size(), artifact.sha256());
    }
  }
}
