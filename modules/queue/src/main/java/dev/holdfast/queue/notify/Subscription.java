package dev.holdfast.queue.notify;

/** Hears what is rung in this process directly, and all else from the server. */
public record Subscription(
    NotificationListener afar, QueueNotifier doorbell, QueueNotifier.Ear here)
    implements WakeUpSource {
  @Override
  public void alsoTo(String queue) {
    here.alsoTo(queue);
    afar.alsoTo(queue);
  }

  @Override
  public boolean isDeaf() {
    return afar.isDeaf();
  }

  @Override
  public void close() {
    doorbell.noLonger(here);
    afar.close();
  }
}
