package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Limits;

/** An output that a job has published: a whole file under a name of its own. */
public record Artifact(String name, long size, String sha256) {
  public Artifact {
    Limits.artifactName(name);
  }
}
