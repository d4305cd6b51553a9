package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks that an attempt's artifacts be taken for the job's: all of them, or none. */
public record Publication(
    Lease lease, String store, List<Artifact> artifacts, @Nullable Json result) {
  public Publication {
    artifacts = List.copyOf(artifacts);
    if (artifacts.isEmpty() || artifacts.size() > Limits.ARTIFACTS) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "%d artifacts in one call: 1 to %d are allowed"
              .formatted(artifacts.size(), Limits.ARTIFACTS));
    }
    if (result != null) {
      Limits.result(result);
    }
  }
}
