package dev.holdfast.server.worker;

import dev.holdfast.contract.lease.ArtifactUpload;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.worker.FencedOperations.Held;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the files of attempts whose workers do not share the server's folder of artifacts. A file
 * is published as one of a worker that does: staged, accepted by the queue, moved to its place.
 */
public final class UploadsApi {
  private static final Logger log = LoggerFactory.getLogger(UploadsApi.class);

  /** As large as a file may be that a worker sends through a server. */
  private static final int MOST_BYTES = 64 << 20;

  private final FencedOperations operations;
  private final TaskRefusals refusals;
  private final @Nullable FolderStore store;

  // A request that is sent again while the first one is still being published has the same path.
  private final ReentrantLock storing = new ReentrantLock();

  public UploadsApi(FencedOperations operations, TaskRefusals refusals, @Nullable Path folder) {
    this.operations = operations;
    this.refusals = refusals;
    this.store = folder == null ? null : new FolderStore(folder);
  }

  public List<Route> routes() {
    return List.of(
        Route.put("/v1/tasks/{taskId}/artifacts/{name}", Guard.TASK, this::ofTask)
            .maxBody(MOST_BYTES)
            .queries("attempt"),
        Route.put("/v1/leases/artifacts/{name}", Guard.WORK, this::ofLease)
            .maxBody(MOST_BYTES)
            .queries("taskId", "attempt", "workerId"));
  }

  private Answer ofTask(Call call) {
    int attempt = call.whole("attempt", 1, Integer.MAX_VALUE);
    LeaseHolder.Token holder = TaskRefusals.holder(call.token(), attempt, null);
    Lease lease = holder.scope().lease();
    refusals.mustHold("artifact", lease);
    ArtifactUpload.Answer answer = published(call, holder, lease);
    if (answer.ack() == Ack.LEASE_LOST) {
      throw refusals.lost("artifact", lease);
    }
    return Answer.ok(answer);
  }

  private Answer ofLease(Call call) {
    JobId job = JobId.parse(call.query("taskId").orElse(""));
    Lease lease = new Lease(job, call.whole("attempt", 1, Integer.MAX_VALUE));
    String worker = Limits.key("worker", call.query("workerId").orElse(""));
    return Answer.ok(published(call, new LeaseHolder.Worker(call.caller(), worker), lease));
  }

  private ArtifactUpload.Answer published(Call call, LeaseHolder holder, Lease lease) {
    String name = Limits.artifactName(call.value("name"));
    FolderStore to = store;
    if (to == null) {
      throw new Problem(
          422, "no_artifact_store", "this server has no folder for artifacts: set one up");
    }
    // Before anything is written: the folder of the attempt is its holder's.
    if (!operations.holds(holder, lease)) {
      return ArtifactUpload.Answer.LOST;
    }
    try {
      FolderStore.Received received = call.streamed(body -> to.receive(lease, name, body));
      try {
        return published(to, holder, lease, received);
      } finally {
        received.discard();
      }
    } catch (IOException e) {
      log.warn("an artifact of {} could not be stored: {}", lease, e.toString());
      throw new Problem(503, "artifact_store_failed", "the file could not be stored: try again")
          .header("Retry-After", "5");
    }
  }

  private ArtifactUpload.Answer published(
      FolderStore to, LeaseHolder holder, Lease lease, FolderStore.Received received)
      throws IOException {
    storing.lock();
    try {
      ArtifactStore.Staged staged = received.stage();
      Artifact artifact = staged.artifact();
      Publication publication = new Publication(lease, to.id(), List.of(artifact), null);
      if (operations.publish(new Held<>(holder, lease, publication)) == Ack.LEASE_LOST) {
        staged.discard();
        return ArtifactUpload.Answer.LOST;
      }
      return staged.publish() ? ArtifactUpload.Answer.of(artifact) : ArtifactUpload.Answer.LOST;
    } finally {
      storing.unlock();
    }
  }
}
