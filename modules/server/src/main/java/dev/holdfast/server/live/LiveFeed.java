package dev.holdfast.server.live;

import dev.holdfast.contract.json.Wire;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The current state by topic, the recent events, and the subscribers. A new subscriber gets the
 * whole state, or the events it missed, and then each change. Nothing here blocks.
 */
final class LiveFeed {
  static final String RESET = "reset";

  private static final int KEPT_EVENTS = 1_000;
  private static final int KEPT_CHARS = 4 << 20;

  private final String epoch;
  private final Map<String, Supplier<String>> known = new LinkedHashMap<>();
  private final Map<String, String> topicOf = new LinkedHashMap<>();
  private final Map<String, String> lastPublished = new LinkedHashMap<>();
  private final Deque<LiveEvent> recent = new ArrayDeque<>();
  private final Set<Subscriber> subscribers = new HashSet<>();
  private final Set<Subscriber> unanswered = new HashSet<>();
  private int recentChars;
  private long number;
  private boolean upToDate;
  private volatile long lastEvent = System.nanoTime();

  /**
   * @param epoch makes the event ids of this feed different from those of any other
   */
  LiveFeed(String epoch) {
    this.epoch = epoch;
  }

  /** Sends the data, unless it equals the last that was published under this name. */
  synchronized void publish(String name, String topic, Object data) {
    String text = Wire.text(data);
    if (!text.equals(lastPublished.put(name, text))) {
      known.put(name, () -> text);
      topicOf.put(name, topic);
      emit(topic, text);
    }
  }

  synchronized void publish(String topic, Object data) {
    publish(topic, topic, data);
  }

  /** Sends a change, and keeps the whole state for new subscribers. */
  synchronized void publish(String topic, @Nullable Object change, Supplier<Object> all) {
    known.put(topic, () -> Wire.text(all.get()));
    topicOf.put(topic, topic);
    if (change != null) {
      emit(topic, Wire.text(change));
    }
  }

  /** Sends an event that is not part of the state. */
  synchronized void send(String topic, Object data) {
    emit(topic, Wire.text(data));
  }

  /** Removes what was published under the name from the state. */
  synchronized void forget(String name) {
    known.remove(name);
    topicOf.remove(name);
    lastPublished.remove(name);
  }

  private void emit(String topic, String text) {
    LiveEvent event = new LiveEvent(epoch + "-" + ++number, number, topic, text);
    lastEvent = System.nanoTime();
    recent.add(event);
    recentChars += text.length();
    while (recent.size() > KEPT_EVENTS || recentChars > KEPT_CHARS) {
      recentChars -= recent.remove().data().length();
    }
    for (Subscriber subscriber : subscribers) {
      // A subscriber that still waits for the state gets this event with it.
      if (!unanswered.contains(subscriber) && !subscriber.offer(event)) {
        subscriber.end(List.of(reset("slow_reader")));
      }
    }
  }

  /** The state is current now; subscribers that waited for it get it. */
  synchronized void upToDate() {
    upToDate = true;
    unanswered.forEach(subscriber -> subscriber.begin(snapshot(subscriber)));
    unanswered.clear();
  }

  /**
   * @param lastId the last event that the client got, of this server or another
   */
  synchronized void join(Subscriber subscriber, @Nullable String lastId) {
    subscribers.add(subscriber);
    if (lastId != null) {
      List<LiveEvent> missed = since(lastId);
      if (missed != null) {
        subscriber.begin(missed);
        return;
      }
      subscriber.begin(List.of(reset("unknown_id")));
    }
    if (upToDate) {
      subscriber.begin(snapshot(subscriber));
    } else {
      unanswered.add(subscriber);
    }
  }

  /** Whether a subscriber waits for the state. */
  synchronized boolean isAwaited() {
    return !unanswered.isEmpty();
  }

  synchronized void leave(Subscriber subscriber) {
    subscribers.remove(subscriber);
    unanswered.remove(subscriber);
    if (subscribers.isEmpty()) {
      upToDate = false;
    }
  }

  long lastEvent() {
    return lastEvent;
  }

  synchronized List<Subscriber> subscribers() {
    return List.copyOf(subscribers);
  }

  /** Ends all streams. */
  synchronized void close() {
    subscribers.forEach(subscriber -> subscriber.end(List.of()));
  }

  /** Null if the events after it are not kept any more, or the id is of another feed. */
  private @Nullable List<LiveEvent> since(String lastId) {
    if (!lastId.startsWith(epoch + "-")) {
      return null;
    }
    long last;
    try {
      last = Long.parseLong(lastId.substring(epoch.length() + 1));
    } catch (NumberFormatException notOne) {
      return null;
    }
    long oldest = recent.isEmpty() ? number + 1 : recent.getFirst().number();
    if (last > number || last < oldest - 1) {
      return null;
    }
    return recent.stream().filter(event -> event.number() > last).toList();
  }

  /** A client must not resume within a snapshot, so only its last event has a number as id. */
  private List<LiveEvent> snapshot(Subscriber subscriber) {
    List<LiveEvent> all = new ArrayList<>();
    known.forEach(
        (name, data) -> {
          String topic = topicOf.getOrDefault(name, name);
          if (subscriber.wants(topic)) {
            all.add(new LiveEvent(epoch + "-snapshot", number, topic, data.get()));
          }
        });
    if (!all.isEmpty()) {
      LiveEvent last = all.removeLast();
      all.add(new LiveEvent(epoch + "-" + number, number, last.topic(), last.data()));
    }
    return all;
  }

  /** Makes the client drop its state; resuming from its id gives a snapshot. */
  private LiveEvent reset(String reason) {
    return new LiveEvent(
        epoch + "-reset", number, RESET, Wire.text(Wire.object().put("reason", reason)));
  }
}
