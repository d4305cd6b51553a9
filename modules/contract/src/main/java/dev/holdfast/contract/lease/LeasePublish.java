package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Asks that an attempt's artifacts be taken for the task's. Their files go the way of the store,
 * which worker and server share; only what is known about them comes over the wire.
 *
 * @param workerId who holds the attempt
 * @param store the name of the store that has the files
 * @param result what the task's result is, should a later attempt find nothing left to do
 */
public record LeasePublish(
    JobId taskId,
    int attempt,
    String workerId,
    String store,
    List<Item> artifacts,
    @Nullable Json result) {
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  public LeasePublish {
    Wire.present("taskId", taskId);
    Fields.attempt(attempt);
    Fields.worker(workerId);
    Fields.text("store", Wire.present("store", store), Limits.MESSAGE_CHARS);
    artifacts = Fields.list("artifacts", artifacts, Limits.ARTIFACTS);
    if (result != null) {
      Limits.result(result);
    }
  }

  public static LeasePublish of(Publication publication, String worker) {
    return new LeasePublish(
        publication.lease().job(),
        publication.lease().attempt(),
        worker,
        publication.store(),
        publication.artifacts().stream().map(Item::of).toList(),
        publication.result());
  }

  public Publication publication() {
    return new Publication(
        new Lease(taskId, attempt), store, artifacts.stream().map(Item::artifact).toList(), result);
  }

  /** What is known about a file. */
  public record Item(String name, long size, String sha256) {
    public Item {
      Wire.present("name", name);
      if (size < 0) {
        throw Fields.wrong("size", "must be zero or more");
      }
      if (!SHA256.matcher(Wire.present("sha256", sha256)).matches()) {
        throw Fields.wrong("sha256", "must have 64 digits, 0-9 and a-f");
      }
    }

    static Item of(Artifact artifact) {
      return new Item(artifact.name(), artifact.size(), artifact.sha256());
    }

    Artifact artifact() {
      return new Artifact(name, size, sha256);
    }
  }

  /** What it is answered. */
  public record Answer(Ack ack) {}

  /** What a task has published. */
  public record Published(List<PublishedArtifact> artifacts) {}
}
