package dev.holdfast.overhttp;

import static dev.holdfast.testkit.Soon.AMPLE;

import dev.holdfast.Between;
import dev.holdfast.Holdfast;
import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;

/** A server: the worker knows its address and nothing else. */
public final class ServerBetween implements Between {
  /** The server reaps leases here, and no test waits for it longer than it has to. */
  private static final Timings TIMINGS =
      new Timings(Duration.ofMillis(500), AMPLE, Duration.ZERO, Duration.ofMillis(500));

  @Override
  public Open open(Holdfast library) {
    HoldfastServer server =
        HoldfastServer.start(library, ServerOptions.DEFAULT.port(0).timings(TIMINGS));
    HttpSource source = HttpSource.to(server.url(), null);
    return new Open() {
      @Override
      public JobSource source() {
        return source;
      }

      @Override
      public void close() {
        source.close();
        server.close();
      }
    };
  }
}
