package dev.holdfast.queue;

/** Hears what is rung in this process directly, and all else from the server. */
record Ears(Listener afar, Doorbell doorbell, Doorbell.Ear here) implements Listening {
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
