package dev.holdfast.server.live;

/**
 * An event on a topic.
 *
 * @param id sent as Last-Event-ID by a client that reconnects
 * @param data one line of JSON
 */
public record LiveEvent(String id, long number, String topic, String data) {
  /** In the format of server-sent events. */
  public String text() {
    return "id: " + id + "\nevent: " + topic + "\ndata: " + data + "\n\n";
  }
}
