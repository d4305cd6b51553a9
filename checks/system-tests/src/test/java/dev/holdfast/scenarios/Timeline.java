package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobEvent;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

/** A job's events, numbered without a gap. */
record Timeline(List<JobEvent> events) {
  static Timeline of(List<JobEvent> events) {
    assertThat(events.stream().map(JobEvent::number))
        .containsExactlyElementsOf(IntStream.rangeClosed(1, events.size()).boxed().toList());
    return new Timeline(events);
  }

  List<String> types() {
    return events.stream().map(JobEvent::type).toList();
  }

  /** When the first event of this type happened, on the database's clock. */
  Instant at(String type) {
    return at(type, 1);
  }

  /** When the n-th event of this type happened. */
  Instant at(String type, int n) {
    List<Instant> times =
        events.stream().filter(event -> event.type().equals(type)).map(JobEvent::at).toList();
    assertThat(times).describedAs("%s in %s", type, types()).hasSizeGreaterThanOrEqualTo(n);
    return times.get(n - 1);
  }
}
