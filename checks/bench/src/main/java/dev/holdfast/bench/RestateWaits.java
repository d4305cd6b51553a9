package dev.holdfast.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/**
 * Restate with its own server, in another process in which all is measured. Handlers stay in memory
 * while they wait, for a minute at most: what is measured is not how another process would continue
 * them.
 */
final class RestateWaits implements WaitTrials.Waiting {
  static final String NAME = "restate";

  private final Peer peer;

  RestateWaits(Peer peer) {
    this.peer = peer;
  }

  @Override
  public String name() {
    return "Restate";
  }

  /** It has begun with its process. */
  @Override
  public void start() {}

  @Override
  public double[] signals(int count) {
    return millis("signals", count);
  }

  @Override
  public double children(int count) {
    return millis("children", count)[0];
  }

  @Override
  public double chain(int count) {
    return millis("chain", count)[0];
  }

  private double[] millis(String operation, int count) {
    JsonNode all = peer.ask(operation, Map.of("count", count)).get("millis");
    double[] millis = new double[all.size()];
    for (int i = 0; i < millis.length; i++) {
      millis[i] = all.get(i).doubleValue();
    }
    return millis;
  }

  @Override
  public void close() {
    peer.close();
  }
}
