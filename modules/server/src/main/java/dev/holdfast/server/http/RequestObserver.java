package dev.holdfast.server.http;

import java.time.Duration;

/** Is told of every request once it has been answered. */
public interface RequestObserver {
  RequestObserver NONE = (method, template, status, took) -> {};

  /**
   * @param template of the route, not the path: there are only so many of them
   */
  void answered(String method, String template, int status, Duration took);
}
