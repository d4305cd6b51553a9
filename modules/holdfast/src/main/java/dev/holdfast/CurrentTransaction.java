package dev.holdfast;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * Knows the transaction of the calling thread, where a framework keeps one. The library writes on
 * its connection and neither commits nor closes it.
 */
@FunctionalInterface
public interface CurrentTransaction {
  /** There never is one. */
  CurrentTransaction NONE = () -> null;

  /**
   * A connection with auto-commit off, to the database that this {@link Holdfast} is on; null
   * outside of a transaction.
   */
  @Nullable Connection connection();
}
