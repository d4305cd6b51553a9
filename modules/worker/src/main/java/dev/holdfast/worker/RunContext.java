package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Codec;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Limits;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one attempt. */
final class RunContext implements JobContext {
  private static final Logger log = LoggerFactory.getLogger(RunContext.class);

  private final LeasedJob job;
  private final Codec codec;
  private final Outbox outbox;
  private final ProgressThrottle throttle;
  private final List<Runnable> callbacks = new ArrayList<>();
  private @Nullable CompletableFuture<Ack> lastProgress;
  private volatile @Nullable StopReason stop;
  private volatile boolean settling;

  RunContext(LeasedJob job, Codec codec, Outbox outbox, LongSupplier nanos) {
    this.job = job;
    this.codec = codec;
    this.outbox = outbox;
    this.throttle = new ProgressThrottle(nanos);
  }

  @Override
  public LeasedJob job() {
    return job;
  }

  @Override
  public boolean isCancelled() {
    return stop != null;
  }

  @Override
  public void checkCancelled() {
    StopReason reason = stop;
    if (reason != null) {
      throw new CancelledException(reason.text());
    }
  }

  @Override
  public void onCancel(Runnable action) {
    synchronized (callbacks) {
      if (stop == null) {
        callbacks.add(action);
        return;
      }
    }
    run(action);
  }

  /** Tells the handler; on a thread of the callbacks' own, for a callback may block. */
  void stop(StopReason reason) {
    List<Runnable> actions;
    synchronized (callbacks) {
      stop = reason;
      actions = List.copyOf(callbacks);
      callbacks.clear();
    }
    if (!actions.isEmpty()) {
      Thread.ofVirtual().name("cancel-" + job.lease()).start(() -> actions.forEach(this::run));
    }
  }

  private void run(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error thrown) {
      log.warn("{}: a cancel callback failed", job.lease(), thrown);
    }
  }

  @Override
  public void progress(int percent, String message) {
    Report.Progress report =
        new Report.Progress(job.lease(), percent, message.isEmpty() ? null : message);
    synchronized (throttle) {
      // While the source is away one unanswered report is enough; the next tells more anyway.
      boolean waiting = lastProgress != null && !lastProgress.isDone() && percent < 100;
      if (stop == null && !waiting && throttle.lets(percent)) {
        lastProgress = outbox.report(report);
      }
    }
  }

  @Override
  public void event(String type, Object data) {
    Report.Event event =
        new Report.Event(
            job.lease(), Limits.word("event type", type), Limits.eventData(codec.encode(data)));
    if (stop instanceof StopReason.LeaseLost || answer(outbox.report(event)) == Ack.LEASE_LOST) {
      throw new LeaseLostException(job.lease());
    }
  }

  private static Ack answer(CompletableFuture<Ack> written) {
    try {
      return written.get();
    } catch (InterruptedException interrupted) {
      // The event may still be written; the handler was told to stop and should.
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while an event was being written");
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RefusedException refused) {
        throw new RefusedException(Refusal.EVENT_NOT_JSON, String.valueOf(refused.getMessage()));
      }
      throw new CompletionException(failed.getCause());
    }
  }

  @Override
  public void settlingInTransaction() {
    settling = true;
  }

  boolean isSettling() {
    return settling;
  }
}
