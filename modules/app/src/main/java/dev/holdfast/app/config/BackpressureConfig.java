package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.LoadSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** When a worker on a busy machine stops claiming for a while. */
@Section(title = "Backpressure", key = "backpressure")
public record BackpressureConfig(
    @Declared(
            variable = "HIGH_WATERMARK",
            most = "1000000000",
            about =
                "number of waiting jobs above which a busy worker pauses claiming; never unless given")
        @Nullable Integer highWatermark,
    @Declared(
            variable = "LOAD_THRESHOLD",
            value = "0.8",
            most = "1",
            about = "CPU load, 0 to 1, above which a worker is busy")
        double loadThreshold,
    @Declared(
            variable = "PAUSE_INTERVAL_SEC",
            value = "5s",
            least = "1ms",
            about = "how long such a pause lasts")
        Duration pauseInterval) {
  public Backpressure.Settings toSettings() {
    return new Backpressure.Settings(
        highWatermark == null ? null : Long.valueOf(highWatermark),
        loadThreshold,
        pauseInterval,
        LoadSource.ofThisMachine());
  }
}
