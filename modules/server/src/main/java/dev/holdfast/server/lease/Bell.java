package dev.holdfast.server.lease;

import dev.holdfast.queue.Queue;
import dev.holdfast.queue.notify.WakeUpSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** The queues' bell, heard once for all in this server who want to hear it. */
public final class Bell implements AutoCloseable {
  private final List<Consumer<String>> hearers = new CopyOnWriteArrayList<>();
  private final WakeUpSource listening;

  public Bell(Queue queue) {
    this.listening = queue.listenOnce(List.of(), this::rung);
  }

  public void tell(Consumer<String> hearer) {
    hearers.add(hearer);
  }

  public void alsoTo(String queue) {
    listening.alsoTo(queue);
  }

  /** Whether it is known that nothing is heard here. */
  boolean isDeaf() {
    return listening.isDeaf();
  }

  private void rung(String queue) {
    hearers.forEach(hearer -> hearer.accept(queue));
  }

  @Override
  public void close() {
    listening.close();
  }
}
