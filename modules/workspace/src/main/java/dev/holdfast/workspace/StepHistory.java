package dev.holdfast.workspace;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.JobWaits;
import dev.holdfast.worker.steps.Step;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What is known of the steps of a job: which are done, how often each was begun, how it failed. */
final class StepHistory {
  private final NavigableMap<Integer, Checkpoint> done = new TreeMap<>();
  private final NavigableMap<Integer, EndedWait> waits = new TreeMap<>();
  private final Map<String, Integer> begun = new HashMap<>();
  private final Map<String, Step.Failed> failed = new HashMap<>();

  private record EndedWait(String id, JobWaits.Over over) {}

  /** Adds what attempts of the job before this one have done, on whatever worker. */
  void load(List<StepStatus> known, Codec codec) {
    for (StepStatus step : known) {
      begun.put(step.id(), step.attempt());
      Json checkpoint = step.checkpoint();
      Json failure = step.failure();
      WaitEnd end = step.waitEnd();
      if (step.isDone() && end != null) {
        waits.put(step.index(), new EndedWait(step.id(), new JobWaits.Over(end, checkpoint)));
      } else if (step.isDone() && checkpoint != null) {
        done.put(step.index(), codec.decode(checkpoint, Checkpoint.class));
      } else if (!step.isDone() && failure != null) {
        StoredStepFailure.read(codec, failure).ifPresent(one -> failed.put(step.id(), one));
      }
    }
  }

  /** The commit that the job has begun with. */
  Optional<String> baseline() {
    return done.values().stream().map(Checkpoint::baseline).findFirst();
  }

  Optional<Checkpoint> checkpoint(int index) {
    return Optional.ofNullable(done.get(index));
  }

  /** Of the last step that is done; a wait makes none. */
  Optional<Checkpoint> last() {
    return Optional.ofNullable(done.lastEntry()).map(Map.Entry::getValue);
  }

  /** The steps before this one that are done, and no waits. */
  List<Checkpoint> before(int index) {
    return List.copyOf(done.headMap(index).values());
  }

  boolean isDone(int index) {
    return done.containsKey(index) || waits.containsKey(index);
  }

  /**
   * Throws if another step was done in the place of this one, as by the job that this one is a fork
   * of, with another payload: its changes would pass for those of this step.
   */
  void mustBe(int index, String id) {
    EndedWait wait = waits.get(index);
    Checkpoint checkpoint = done.get(index);
    String known = wait != null ? wait.id() : checkpoint == null ? id : checkpoint.stepId();
    if (!known.equals(id)) {
      throw differs(index, known, "'" + id + "'");
    }
  }

  /** Throws if more was done than the job has steps. */
  void mustEndAt(int last) {
    Map.Entry<Integer, Checkpoint> step = done.higherEntry(last);
    Map.Entry<Integer, EndedWait> wait = waits.higherEntry(last);
    if (step != null) {
      throw differs(step.getKey(), step.getValue().stepId(), "no more than " + last);
    }
    if (wait != null) {
      throw differs(wait.getKey(), wait.getValue().id(), "no more than " + last);
    }
  }

  private static FailedException differs(int index, String known, String now) {
    return new FailedException(
        Failure.of(
                FailureCategory.CONFIGURATION,
                "STEPS_DIFFER",
                "what was done as step %d is '%s', and the payload has %s there: give a fork a payload with the same steps before the one from which it goes on"
                    .formatted(index, known, now))
            .withRetryable(false));
  }

  /** What the waits before this step have brought, as programs are told it. */
  Map<String, Map<String, Object>> waitsBefore(int index, Codec codec) {
    Map<String, Map<String, Object>> told = new LinkedHashMap<>();
    waits.headMap(index).values().forEach(each -> told.put(each.id(), each.over().told(codec)));
    return told;
  }

  Optional<JobWaits.Over> waited(int index) {
    return Optional.ofNullable(waits.get(index)).map(EndedWait::over);
  }

  void waited(int index, String id, JobWaits.Over over) {
    waits.put(index, new EndedWait(id, over));
  }

  /** This step and those after it are to be done again. */
  void drop(int from) {
    done.tailMap(from, true).clear();
    waits.tailMap(from, true).clear();
  }

  int steps() {
    return done.size();
  }

  List<String> changedFiles() {
    return done.values().stream().flatMap(step -> step.changedFiles().stream()).distinct().toList();
  }

  int begun(String id) {
    return begun.getOrDefault(id, 0);
  }

  /** How the last attempt failed, when that was before this worker had the job. */
  Step.@Nullable Failed failed(String id) {
    return failed.get(id);
  }

  void began(String id, int attempt) {
    begun.put(id, attempt);
  }

  /** Steps after this one were made from what it was before, and are no longer done. */
  void finished(Checkpoint checkpoint) {
    drop(checkpoint.stepIndex());
    done.put(checkpoint.stepIndex(), checkpoint);
  }
}
