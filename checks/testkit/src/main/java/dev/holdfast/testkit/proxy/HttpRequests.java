package dev.holdfast.testkit.proxy;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Requests of a client that sends the head of each at once and waits for every answer. */
public final class HttpRequests implements Requests {
  @Override
  public List<String> add(byte[] chunk, int length) {
    return List.of(new String(chunk, 0, length, StandardCharsets.UTF_8));
  }
}
