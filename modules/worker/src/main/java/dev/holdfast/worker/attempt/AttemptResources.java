package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.process.Command;
import dev.holdfast.process.LineListener;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.worker.artifact.DiskErrors;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What one attempt has on this machine: its scratch folder, its programs, what it publishes. */
public final class AttemptResources {
  /** The longest line a program may print and have read whole: a result fits. */
  static final int LINE_BYTES = (1 << 20) + (1 << 16);

  static final String PROGRAM_MISSING = "PROGRAM_MISSING";
  static final String PROGRAM_NOT_STARTED = "PROGRAM_NOT_STARTED";

  private final Lease lease;
  private final Scratch scratch;
  private final Publisher publisher;
  private final Duration grace;
  private final Set<ProcessTree> running = ConcurrentHashMap.newKeySet();
  private Scratch.@Nullable Open open;
  private volatile boolean published;

  /**
   * @param grace for a program that was asked to end
   */
  public AttemptResources(Lease lease, Scratch scratch, Publisher publisher, Duration grace) {
    this.lease = lease;
    this.scratch = scratch;
    this.publisher = publisher;
    this.grace = grace;
  }

  synchronized Path scratch() {
    if (open == null) {
      try {
        open = scratch.open(lease);
      } catch (IOException trouble) {
        throw DiskErrors.failed("no scratch folder could be made", trouble);
      }
    }
    return open.folder();
  }

  List<Artifact> publish(Map<String, Path> files, @Nullable Json result, Runnable beforeAsking) {
    published = true;
    return publisher.publish(lease, files, result, beforeAsking);
  }

  // ---- programs

  int run(
      List<String> command,
      Map<String, String> environment,
      LineListener out,
      LineListener err,
      JobContext context) {
    Map<String, String> visible = new HashMap<>(SafeEnvironment.of(System.getenv()));
    visible.putAll(environment);
    ProcessTree tree = started(new Command(command, scratch(), visible), out, err);
    running.add(tree);
    try {
      if (context.isCancelled()) {
        tree.kill(); // whoever said so may have looked before it was in the set
      }
      // An interrupt may be for a step alone; the attempt goes on without it.
      int exit = tree.awaitOrStop(grace);
      context.checkCancelled();
      return exit;
    } finally {
      running.remove(tree);
    }
  }

  private static ProcessTree started(Command command, LineListener out, LineListener err) {
    try {
      return ProcessTree.start(command, LINE_BYTES, out, err);
    } catch (NoSuchProgramException missing) {
      throw FailedException.of(
          FailureCategory.CONFIGURATION, PROGRAM_MISSING, String.valueOf(missing.getMessage()));
    } catch (IOException trouble) {
      throw FailedException.of(
          FailureCategory.INFRASTRUCTURE,
          PROGRAM_NOT_STARTED,
          command.arguments().getFirst() + " could not be started: " + trouble.getMessage());
    }
  }

  boolean isRunning() {
    return !running.isEmpty();
  }

  void terminate() {
    running.forEach(ProcessTree::terminate);
  }

  void kill() {
    running.forEach(ProcessTree::kill);
  }

  // ---- how it ended

  /** Whether there is anything to clear up; an earlier attempt may have left something, too. */
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
