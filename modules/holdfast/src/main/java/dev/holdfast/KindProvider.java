package dev.holdfast;

import dev.holdfast.worker.Kind;
import java.util.Collection;

/**
 * Brings handlers to {@code holdfast worker} from a jar on its class path, found by {@link
 * java.util.ServiceLoader}.
 */
public interface KindProvider {
  /** The library is there for handlers that enqueue, or settle in their own transaction. */
  Collection<Kind<?>> kinds(Holdfast holdfast);
}
