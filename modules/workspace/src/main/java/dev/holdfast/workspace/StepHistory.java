package dev.holdfast.workspace;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.steps.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known of the steps of a job: which are done, how often each was begun, how it failed. */
final class StepHistory {
  private final Map<Integer, Checkpoint> done = new HashMap<>();
  private final Map<String, Integer> begun = new HashMap<>();
  private final Map<String, Step.Failed> failed = new HashMap<>();

  /** Adds what attempts of the job before this one have done, on whatever worker. */
  void load(List<StepStatus> known, Codec codec) {
    for (StepStatus step : known) {
      begun.put(step.id(), step.attempt());
      Json checkpoint = step.checkpoint();
      Json failure = step.failure();
      if (step.isDone() && checkpoint != null) {
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

  boolean isDone(int index) {
    return done.containsKey(index);
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
    done.keySet().removeIf(later -> later > checkpoint.stepIndex());
    done.put(checkpoint.stepIndex(), checkpoint);
  }
}
