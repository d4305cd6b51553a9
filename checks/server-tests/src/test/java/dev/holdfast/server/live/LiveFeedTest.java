package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client gets that resumes, event by event. */
class LiveFeedTest {
  private static final String TOPIC = "queue:status";
  private static final int KEPT_EVENTS = 1_000;

  private final LiveFeed feed = new LiveFeed("epoch");

  private Subscriber join(@Nullable String lastId) {
    Subscriber subscriber = new Subscriber("client", Topics.parse("*"), Thread.currentThread());
    feed.join(subscriber, lastId);
    return subscriber;
  }

  private void publish(long number) {
    feed.publish(TOPIC, Map.of("n", number));
  }

  private static List<LiveEvent> taken(Subscriber subscriber) throws InterruptedException {
    return subscriber.take(Duration.ZERO).events();
  }

  private static LiveEvent event(long number) {
    return new LiveEvent("epoch-" + number, number, TOPIC, "{\"n\":" + number + "}");
  }

  @Test
  void a_client_that_resumes_alone_gets_each_change_of_its_absence_once()
      throws InterruptedException {
    Subscriber first = join(null);
    publish(1);
    assertThat(taken(first)).as("before the state is known").isEmpty();
    feed.upToDate();
    assertThat(taken(first)).containsExactly(event(1));
    feed.leave(first);

    Subscriber again = join("epoch-1");
    assertThat(taken(again)).as("nobody has polled meanwhile").isEmpty();
    publish(2);
    publish(3);
    assertThat(taken(again)).containsExactly(event(2), event(3));
    feed.upToDate();
    assertThat(taken(again)).as("no snapshot").isEmpty();
  }

  @Test
  void a_client_that_resumes_gets_what_others_got_meanwhile() throws InterruptedException {
    Subscriber other = join(null);
    feed.upToDate();
    publish(1);
    publish(2);
    assertThat(taken(other)).containsExactly(event(1), event(2));
    assertThat(taken(join("epoch-0"))).containsExactly(event(1), event(2));
    assertThat(taken(join("epoch-1"))).containsExactly(event(2));
    assertThat(taken(join("epoch-2"))).isEmpty();
    assertThat(taken(join("epoch-3"))).extracting(LiveEvent::topic).startsWith(LiveFeed.RESET);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 234})
  void a_client_is_reset_only_if_an_event_that_it_misses_was_dropped(int dropped)
      throws InterruptedException {
    int last = KEPT_EVENTS + dropped;
    LongStream.rangeClosed(1, last).forEach(this::publish);
    feed.upToDate();
    assertThat(taken(join("epoch-" + dropped)))
        .isEqualTo(
            LongStream.rangeClosed(dropped + 1, last).mapToObj(LiveFeedTest::event).toList());
    if (dropped > 0) {
      assertThat(taken(join("epoch-" + (dropped - 1))))
          .extracting(LiveEvent::topic, LiveEvent::id)
          .containsExactly(tuple(LiveFeed.RESET, "epoch-reset"), tuple(TOPIC, "epoch-" + last));
    }
  }
}
