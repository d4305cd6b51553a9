package dev.holdfast.programs;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.JobWaits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What calls of the program before this one have waited for and started, on whatever worker. A
 * program has no memory of its own: its envelope tells it.
 */
final class Background {
  /** An envelope is read whole, by the worker and by the program. */
  static final long MOST_CHARS = 64 << 20;

  /** Their results may be large. */
  private static final int PART = 50;

  private final JobWaits waits;
  private final Codec codec;
  private final Map<String, StepStatus> done = new LinkedHashMap<>();
  private long chars;

  Background(JobWaits waits, Codec codec) {
    this.waits = waits;
    this.codec = codec;
    waits.begin().stream().filter(StepStatus::isDone).forEach(each -> done.put(each.id(), each));
  }

  /** The envelope with what there is of it. */
  Map<String, Object> in(Map<String, Object> envelope) {
    Map<String, Object> brought = new LinkedHashMap<>();
    Map<String, Object> started = new LinkedHashMap<>();
    for (StepStatus each : done.values()) {
      WaitEnd end = each.waitEnd();
      if (end != null && end.outcome() == WaitEnd.Outcome.STARTED) {
        started.put(each.id(), children(each, end.jobs()));
      } else if (end != null) {
        add(each.checkpoint());
        brought.put(each.id(), new JobWaits.Over(end, each.checkpoint()).told(codec));
      }
    }
    Map<String, Object> all = new LinkedHashMap<>(envelope);
    all.put("waits", brought);
    all.put("children", started);
    return all;
  }

  private List<Object> children(StepStatus start, @Nullable Integer jobs) {
    List<Object> children = new ArrayList<>();
    for (int from = 0; jobs != null && from < jobs; from += PART) {
      for (ChildEnd child : waits.ends(start, from, PART)) {
        add(child.result());
        children.add(told(child));
      }
    }
    return children;
  }

  private void add(@Nullable Json more) {
    chars += more == null ? 0 : more.text().length();
    if (chars > MOST_CHARS) {
      throw FailedException.of(
          FailureCategory.DATA_QUALITY,
          Failure.INPUT_TOO_LARGE,
          "what the job has waited for and started has brought more than %,d characters, and a program is told all of it: let signals and results say where the rest is"
              .formatted(MOST_CHARS));
    }
  }

  private Map<String, Object> told(ChildEnd child) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("taskId", child.job().toString());
    told.put("state", child.state());
    JobWaits.put(told, "result", child.result(), codec);
    Failure failure = child.failure();
    if (failure != null) {
      told.put(
          "failure",
          Map.of(
              "category", failure.category(),
              "code", failure.code(),
              "message", failure.message(),
              "retryable", failure.retryable()));
    }
    return told;
  }

  void start(List<AskedByProgram.Start> starts) {
    for (AskedByProgram.Start each : starts) {
      List<Child> unused = waits.start(each.id(), each.jobs());
    }
  }

  /** Leaves the handler unless the wait is over. */
  void await(Wait wait) {
    StepStatus known = done.get(wait.id());
    if (known != null) {
      throw new RefusedException(
          Refusal.ID_REUSED,
          "suspend: '%s' was %s, and is over: what it has brought is in the file that HOLDFAST_JOB names, so look there before you wait, or give another id"
              .formatted(wait.id(), known.what()));
    }
    JobWaits.Over unused = waits.await(wait);
  }
}
