package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.PublishedArtifact;
import java.time.Instant;
import java.util.List;

/** An artifact that a job has published. Only the server knows where its file is stored. */
public record ArtifactResource(
    String name, long size, String sha256, int attempt, Instant publishedAt) {
  public ArtifactResource {
    Wire.present("name", name);
    Wire.present("sha256", sha256);
    Wire.present("publishedAt", publishedAt);
  }

  public static ArtifactResource of(PublishedArtifact published) {
    Artifact artifact = published.artifact();
    return new ArtifactResource(
        artifact.name(),
        artifact.size(),
        artifact.sha256(),
        published.attempt(),
        published.publishedAt());
  }

  public PublishedArtifact published() {
    return new PublishedArtifact(new Artifact(name, size, sha256), attempt, "", publishedAt, null);
  }

  /** All artifacts of a job. */
  public record Artifacts(List<ArtifactResource> artifacts) {
    public Artifacts {
      artifacts = List.copyOf(Wire.present("artifacts", artifacts));
    }
  }
}
