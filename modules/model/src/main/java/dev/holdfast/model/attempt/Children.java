package dev.holdfast.model.attempt;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.List;

/**
 * Jobs that an attempt starts, or a part of them where they are many.
 *
 * @param id under which they are started, one of the ids of steps
 * @param index of this id among the steps of the job, from 1
 * @param jobs each with the id that it has as a child of the job
 * @param count how many they are with those of the parts before; 0 when more parts follow
 */
public record Children(Lease lease, String id, int index, List<Job> jobs, int count) {
  /** How many jobs can be started under one id. */
  public static final int MOST = 100_000;

  public Children {
    Limits.stepId(id);
    jobs = List.copyOf(jobs);
    if (index < 1 || count < 0 || count > MOST) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "steps are counted from 1, and under one id %,d jobs can be started".formatted(MOST));
    }
    for (Job job : jobs) {
      if (job.unique() != null || !job.dependsOn().isEmpty()) {
        throw new RefusedException(
            Refusal.BAD_UNIQUE,
            "job '%s' that is started as '%s' may have no unique key and depend on no other: the id under which it is started makes it one of its kind"
                .formatted(job.kind(), id));
      }
    }
  }
}
