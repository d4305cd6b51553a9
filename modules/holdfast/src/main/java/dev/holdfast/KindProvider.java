package dev.holdfast;

import dev.holdfast.worker.handler.Kind;
import java.util.Collection;
import java.util.List;

/**
 * Brings handlers to {@code holdfast worker} from a jar on its class path, found by {@link
 * java.util.ServiceLoader}.
 */
public interface KindProvider {
  /** The library is there for handlers that enqueue, or settle in their own transaction. */
  Collection<Kind<?>> kinds(Holdfast holdfast);

  /**
   * The same for a worker that goes through a server, and so has no database to offer: those kinds
   * that need none.
   */
  default Collection<Kind<?>> kinds() {
    return List.of();
  }
}
