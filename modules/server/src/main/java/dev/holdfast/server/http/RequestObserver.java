package dev.holdfast.server.http;

import java.time.Duration;

/** Is called for every request after its answer. */
public interface RequestObserver {
  RequestObserver NONE = (method, template, status, took) -> {};

  /**
   * @param template of the route, not the path, so that the number of values is limited
   */
  void answered(String method, String template, int status, Duration took);
}
