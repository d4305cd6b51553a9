package dev.holdfast.worker.handler;

/** On which threads the handlers of a kind run. */
public enum Threads {
  /** Platform threads, unless the worker has so many places that they would cost too much. */
  AUTO,
  /**
   * Threads of the system, which shares the cores among them: a handler that computes for long
   * keeps no other from beginning.
   */
  PLATFORM,
  /**
   * Threads that cost next to nothing, for handlers that mostly wait. As many handlers as there are
   * cores that compute without waiting keep all others of this sort from going on.
   */
  VIRTUAL
}
