package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;

/**
 * The question to which a link is made.
 *
 * @param waitId the id under which the job asks
 */
public record LinkRequest(String waitId) {
  public LinkRequest {
    Wire.present("waitId", waitId);
  }
}
