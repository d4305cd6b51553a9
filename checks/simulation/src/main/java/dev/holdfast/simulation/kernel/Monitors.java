package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.List;

/**
 * Stands for {@code synchronized}. The JDK would resume a thread that waited for a monitor from a
 * thread of its own, at a moment that no seed decides.
 */
@SuppressWarnings("ReferenceEquality") // A monitor belongs to an object, not to all that equal it.
public final class Monitors {
  record Held(Object object, Lock lock) {}

  private static final ThreadLocal<List<Held>> ALL = ThreadLocal.withInitial(ArrayList::new);

  private Monitors() {}

  public static void enter(Object object) {
    // Before it is looked up: one that is left by all meanwhile is forgotten.
    Calls.point();
    lockOf(object).acquire();
  }

  public static void exit(Object object) {
    Lock lock = lockOf(object);
    lock.unlock();
    if (lock.isFree()) {
      held().removeIf(each -> each.object() == object);
    }
  }

  private static List<Held> held() {
    SimulatedProcess process = SimulatedProcess.CURRENT.get();
    return process == null ? ALL.get() : process.monitors();
  }

  private static Lock lockOf(Object object) {
    List<Held> held = held();
    for (Held each : held) {
      if (each.object() == object) {
        return each.lock();
      }
    }
    Held added = new Held(object, new Lock());
    held.add(added);
    return added.lock();
  }
}
