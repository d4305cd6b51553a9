package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.model.ops.DatabaseVersion;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the health indicator says, in whichever package that is. */
final class HealthReport {
  private final Holdfast holdfast;
  private final HoldfastWorkers workers;

  HealthReport(Holdfast holdfast, HoldfastWorkers workers) {
    this.holdfast = holdfast;
    this.workers = workers;
  }

  /** Throws when the database cannot be asked, or has not our schema. */
  Map<String, Object> details() {
    DatabaseVersion version = holdfast.store().version();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("postgresql", version.server());
    details.put("schema", version.schema());
    details.put("workers", workers.report());
    return details;
  }
}
