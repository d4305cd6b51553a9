package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import org.jspecify.annotations.Nullable;

/**
 * What a person has decided.
 *
 * @param waitId the id under which the job asks
 */
public record DecisionRequest(String waitId, @Nullable Boolean approved, @Nullable String comment) {
  public DecisionRequest {
    Wire.present("waitId", waitId);
    Wire.present("approved", approved);
  }
}
