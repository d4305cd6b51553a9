package dev.holdfast;

import dev.holdfast.worker.source.JobSource;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * What stands between a worker and the database. These tests run once more where something does:
 * whoever runs them there names it as a service.
 */
public interface Between {
  /** Open until its test is over. */
  interface Open extends AutoCloseable {
    JobSource source();

    @Override
    void close();
  }

  Open open(Holdfast library);

  static Optional<Between> found() {
    return ServiceLoader.load(Between.class).findFirst();
  }
}
