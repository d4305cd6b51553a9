package dev.holdfast.server.metrics;

import dev.holdfast.model.wait.WaitCount;
import dev.holdfast.model.wait.WaitSort;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** What jobs wait for, by kind; beyond a hundred of them, the smallest are put together by sort. */
public final class OpenWaits {
  static final String JOBS = "wait.open_jobs";
  static final String OLDEST = "wait.oldest_seconds";

  private static final int MOST = 100;
  private static final String OTHERS = "_others";

  private final CachedGauge<List<WaitCount>> waits;
  private final MultiGauge jobs;
  private final MultiGauge oldest;

  /**
   * @param waits the largest first
   */
  public OpenWaits(Supplier<List<WaitCount>> waits, MeterRegistry registry) {
    this.waits = new CachedGauge<>("waits", waits, List.of(), this::show);
    this.jobs = MultiGauge.builder(JOBS).description("jobs whose handlers wait").register(registry);
    this.oldest =
        MultiGauge.builder(OLDEST)
            .description("how long the first of them has waited")
            .register(registry);
  }

  void refresh() {
    waits.refresh();
  }

  private void show(List<WaitCount> all) {
    List<WaitCount> shown = new ArrayList<>(all.subList(0, Math.min(MOST, all.size())));
    Map<WaitSort, WaitCount> others = new EnumMap<>(WaitSort.class);
    all.subList(shown.size(), all.size())
        .forEach(each -> others.merge(each.sort(), each, OpenWaits::together));
    shown.addAll(others.values());
    jobs.register(rows(shown, WaitCount::jobs), true);
    oldest.register(rows(shown, each -> each.oldest().toMillis() / 1000.0), true);
  }

  private static WaitCount together(WaitCount one, WaitCount other) {
    Duration oldest = one.oldest().compareTo(other.oldest()) > 0 ? one.oldest() : other.oldest();
    return new WaitCount(OTHERS, one.sort(), one.jobs() + other.jobs(), oldest);
  }

  private static List<MultiGauge.Row<?>> rows(
      List<WaitCount> counts, ToDoubleFunction<WaitCount> number) {
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    for (WaitCount each : counts) {
      String sort = each.sort().name().toLowerCase(Locale.ROOT);
      rows.add(
          MultiGauge.Row.of(
              Tags.of("kind", each.kind(), "sort", sort), number.applyAsDouble(each)));
    }
    return rows;
  }
}
