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
 * What is known now, what was said lately, and who listens. Whoever comes is told all that is
 * known, or what he missed, and from then on what changes. Nothing here waits for anybody.
 */
final class LiveFeed {
  static final String RESET = "reset";

  private static final int KEPT_EVENTS = 1_000;
  private static final int KEPT_CHARS = 4 << 20;

  private final String epoch;
  private final Map<String, Supplier<String>> known = new LinkedHashMap<>();
  private final Map<String, String> topicOf = new LinkedHashMap<>();
  private final Map<String, String> saidLast = new LinkedHashMap<>();
  private final Deque<LiveEvent> recent = new ArrayDeque<>();
  private final Set<Subscriber> subscribers = new HashSet<>();
  private final Set<Subscriber> unanswered = new HashSet<>();
  private int recentChars;
  private long number;
  private boolean upToDate;
  private volatile long lastNews = System.nanoTime();

  /**
   * @param epoch tells the numbers of this feed from those of any other
   */
  LiveFeed(String epoch) {
    this.epoch = epoch;
  }

  /** Says it, unless it was the last thing said under this name. */
  synchronized void publish(String name, String topic, Object data) {
    String text = Wire.text(data);
    if (!text.equals(saidLast.put(name, text))) {
      known.put(name, () -> text);
      topicOf.put(name, topic);
      say(topic, text);
    }
  }

  synchronized void publish(String topic, Object data) {
    publish(topic, topic, data);
  }

  /** Says what changed, where that is not all that is known. */
  synchronized void publish(String topic, @Nullable Object change, Supplier<Object> all) {
    known.put(topic, () -> Wire.text(all.get()));
    topicOf.put(topic, topic);
    if (change != null) {
      say(topic, Wire.text(change));
    }
  }

  /** Says what newcomers need not know. */
  synchronized void tell(String topic, Object news) {
    say(topic, Wire.text(news));
  }

  /** Newcomers need not know of it any more. */
  synchronized void forget(String name) {
    known.remove(name);
    topicOf.remove(name);
    saidLast.remove(name);
  }

  private void say(String topic, String text) {
    LiveEvent event = new LiveEvent(epoch + "-" + ++number, number, topic, text);
    lastNews = System.nanoTime();
    recent.add(event);
    recentChars += text.length();
    while (recent.size() > KEPT_EVENTS || recentChars > KEPT_CHARS) {
      recentChars -= recent.remove().data().length();
    }
    for (Subscriber subscriber : subscribers) {
      // Who has not been told what is known gets it with that.
      if (!unanswered.contains(subscriber) && !subscriber.offer(event)) {
        subscriber.end(List.of(reset("slow_reader")));
      }
    }
  }

  /** All that is known is true now; whoever waited for it gets it. */
  synchronized void upToDate() {
    upToDate = true;
    unanswered.forEach(subscriber -> subscriber.begin(snapshot(subscriber)));
    unanswered.clear();
  }

  /**
   * @param lastId what he heard last, on this server or another
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

  synchronized void leave(Subscriber subscriber) {
    subscribers.remove(subscriber);
    unanswered.remove(subscriber);
    if (subscribers.isEmpty()) {
      upToDate = false;
    }
  }

  long lastNews() {
    return lastNews;
  }

  synchronized List<Subscriber> subscribers() {
    return List.copyOf(subscribers);
  }

  /** Sends everybody home. */
  synchronized void close() {
    subscribers.forEach(subscriber -> subscriber.end(List.of()));
  }

  /** Null when what came after it is not known any more, or never was. */
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

  /** One who gets only a part of it must not go on from there, so only its last id is a number. */
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

  /** Whoever gets this forgets all he knows; shown again, its id leads to a snapshot. */
  private LiveEvent reset(String reason) {
    return new LiveEvent(
        epoch + "-reset", number, RESET, Wire.text(Wire.object().put("reason", reason)));
  }
}
