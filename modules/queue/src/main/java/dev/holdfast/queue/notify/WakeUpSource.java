package dev.holdfast.queue.notify;

/** An open ear. */
public interface WakeUpSource extends AutoCloseable {
  /** Listens for this queue too, from the next second on. Its name is one that was checked. */
  void alsoTo(String queue);

  /** Whether it is known that nothing arrives here, so that polling is all there is. */
  default boolean isDeaf() {
    return false;
  }

  @Override
  void close();
}
