package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import org.jspecify.annotations.Nullable;

/** The URL, and the secret that is sent there. */
public record DispatchRequest(String url, String secret, @Nullable Integer maxInFlight) {
  public DispatchRequest {
    Wire.present("url", url);
    Wire.present("secret", secret);
  }

  @Override
  public String toString() {
    return "dispatch to " + url;
  }
}
