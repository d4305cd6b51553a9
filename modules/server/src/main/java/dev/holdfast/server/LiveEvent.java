package dev.holdfast.server;

/**
 * Something that was said on a topic.
 *
 * @param id what a reader shows to go on from here
 * @param data one line of JSON
 */
record LiveEvent(String id, long number, String topic, String data) {
  /** As the stream has it. */
  String text() {
    return "id: " + id + "\nevent: " + topic + "\ndata: " + data + "\n\n";
  }
}
