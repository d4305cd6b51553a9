package dev.holdfast.server.live;

/**
 * Something that was said on a topic.
 *
 * @param id what a reader shows to go on from here
 * @param data one line of JSON
 */
public record LiveEvent(String id, long number, String topic, String data) {
  /** As the stream has it. */
  public String text() {
    return "id: " + id + "\nevent: " + topic + "\ndata: " + data + "\n\n";
  }
}
