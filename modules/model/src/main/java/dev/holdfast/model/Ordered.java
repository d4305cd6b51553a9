package dev.holdfast.model;

import java.util.List;

/** What became of a command to a worker. */
public sealed interface Ordered {
  /** Its supervisors will do it. */
  record Given(List<WorkerOrder> orders) implements Ordered {
    public Given {
      orders = List.copyOf(orders);
    }
  }

  /** There is no such component. */
  record Unknown(String message) implements Ordered {}

  /**
   * It makes no sense, or nobody would do it.
   *
   * @param code {@code supervisor_silent}, {@code worker_stopped} or {@code worker_failed}
   */
  record Refused(String code, String message) implements Ordered {}
}
