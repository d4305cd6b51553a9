package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The waits of a job, for a handler that runs what asks for them: a program, or the steps of a
 * payload. Other handlers use {@link JobContext#await} and its siblings.
 */
public interface JobWaits {
  /**
   * What runs begins, from its start: it may ask for each id once.
   *
   * @return what attempts before this one have left, and this one since; without what an operator
   *     wants done again
   */
  List<StepStatus> begin();

  /** Waits. Leaves the handler by an error unless the wait is over. */
  Over await(Wait wait);

  /**
   * The same for a wait that has a place among the steps of the payload.
   *
   * @param index from 1
   */
  Over await(int index, Wait wait);

  /** Starts these jobs, unless an attempt before has done it. */
  List<Child> start(String id, List<Job> jobs);

  /**
   * How jobs that were started have ended, or are now.
   *
   * @param started as {@link #begin} returns a start of jobs
   * @param from how many to pass over
   * @param most how many to return
   */
  List<ChildEnd> ends(StepStatus started, int from, int most);

  /** Adds JSON to what is encoded as a whole; where there is none, or null, nothing. */
  static void put(Map<String, Object> told, String name, @Nullable Json json, Codec codec) {
    if (json != null && !json.text().equals("null")) {
      told.put(name, codec.decode(json, Object.class));
    }
  }

  /**
   * What a wait has brought.
   *
   * @param payload of a signal
   */
  record Over(WaitEnd end, @Nullable Json payload) {
    /** As it is told to programs. */
    public Map<String, Object> told(Codec codec) {
      Map<String, Object> told = new LinkedHashMap<>();
      told.put("sort", end.sort());
      told.put("outcome", end.outcome());
      JobWaits.put(told, "payload", payload, codec);
      put(told, "by", end.by());
      put(told, "comment", end.comment());
      put(told, "at", end.at() == null ? null : end.at().toString());
      put(told, "job", end.job() == null ? null : end.job().toString());
      return told;
    }

    private static void put(Map<String, Object> told, String name, @Nullable Object value) {
      if (value != null) {
        told.put(name, value);
      }
    }
  }
}
