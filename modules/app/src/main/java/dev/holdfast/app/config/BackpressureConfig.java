package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.decimal;
import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.LoadSource;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When a worker on a busy machine stops claiming for a while.
 *
 * @param highWatermark null for never
 */
public record BackpressureConfig(
    @Nullable Integer highWatermark, double loadThreshold, Duration pauseInterval) {
  static final Setting<Integer> HIGH_WATERMARK =
      Setting.of(
              "backpressure.highWatermark",
              whole(0, 1_000_000_000),
              "number of waiting jobs above which a busy worker pauses claiming; never unless given")
          .named("HIGH_WATERMARK");

  static final Setting<Double> LOAD_THRESHOLD =
      Setting.of(
              "backpressure.loadThreshold",
              decimal(0, 1),
              "0.8",
              "CPU load, 0 to 1, above which a worker is busy")
          .named("LOAD_THRESHOLD");

  static final Setting<Duration> PAUSE_INTERVAL =
      Setting.of(
              "backpressure.pauseInterval",
              duration(Duration.ofMillis(1), SettingType.YEAR),
              "5s",
              "how long such a pause lasts")
          .named("PAUSE_INTERVAL_SEC", "s");

  static final Concern CONCERN =
      new Concern(
          "Backpressure",
          List.of(HIGH_WATERMARK, LOAD_THRESHOLD, PAUSE_INTERVAL),
          BackpressureConfig::read);

  static BackpressureConfig read(SettingValues values) {
    return new BackpressureConfig(
        values.find(HIGH_WATERMARK).orElse(null),
        values.get(LOAD_THRESHOLD),
        values.get(PAUSE_INTERVAL));
  }

  public Backpressure.Settings toSettings() {
    return new Backpressure.Settings(
        highWatermark == null ? null : Long.valueOf(highWatermark),
        loadThreshold,
        pauseInterval,
        LoadSource.ofThisMachine());
  }
}
