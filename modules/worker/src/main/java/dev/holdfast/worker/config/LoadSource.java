package dev.holdfast.worker.config;

import java.lang.management.ManagementFactory;

/** How busy this machine is, from 0 (idle) to 1 (every core at work). */
@FunctionalInterface
public interface LoadSource {
  double load();

  static LoadSource ofThisMachine() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system::getCpuLoad
        : () -> 0.0;
  }
}
