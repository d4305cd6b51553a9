package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.artifact.DiskErrors;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.artifact.Scratch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The files of one attempt: its scratch folder, and what it publishes. */
public final class AttemptFiles {
  private final Lease lease;
  private final Scratch scratch;
  private final Publisher publisher;
  private Scratch.@Nullable Open open;
  private volatile boolean published;

  AttemptFiles(Lease lease, Scratch scratch, Publisher publisher) {
    this.lease = lease;
    this.scratch = scratch;
    this.publisher = publisher;
  }

  synchronized Path scratch() {
    if (open == null) {
      try {
        open = scratch.open(lease);
      } catch (IOException e) {
        throw DiskErrors.failed("no scratch folder could be made", e);
      }
    }
    return open.folder();
  }

  List<Artifact> publish(Map<String, Path> files, @Nullable Json result, Runnable beforeAsking) {
    published = true;
    return publisher.publish(lease, files, result, beforeAsking);
  }

  /** What an earlier attempt of the job has published, if it is all of these and undamaged. */
  Optional<Publisher.Finished> finished(List<String> artifacts, Consumer<String> damaged) {
    return publisher.finished(lease, artifacts, damaged);
  }

  /** Whether there is anything to delete; an earlier attempt may have left something, too. */
  public boolean needsCleaning() {
    return isUsed() || published || lease.attempt() > 1;
  }

  private synchronized boolean isUsed() {
    return open != null;
  }

  private synchronized void close() {
    if (open != null) {
      open.close();
    }
  }

  public void succeeded() {
    if (isUsed() || lease.attempt() > 1) {
      close();
      scratch.succeeded(lease);
    }
    if (published || lease.attempt() > 1) {
      publisher.tidy(lease);
    }
  }

  public void failed() {
    if (isUsed()) {
      close();
      scratch.failed(lease);
    }
  }

  public void dropped() {
    if (isUsed()) {
      close();
      scratch.dropped(lease);
    }
  }
}
