package dev.holdfast.worker;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.worker.handler.Kind;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The handlers of a worker, by kind and version. */
final class Kinds {
  private final Map<String, NavigableMap<Integer, Kind<?>>> byName = new HashMap<>();

  Kinds(Collection<? extends Kind<?>> kinds) {
    for (Kind<?> kind : kinds) {
      byName.computeIfAbsent(kind.name(), name -> new TreeMap<>()).put(kind.version(), kind);
    }
  }

  /**
   * What runs a job: the version that it has begun with, or else the highest. Null if there is none
   * here.
   */
  @Nullable Kind<?> of(LeasedJob job) {
    NavigableMap<Integer, Kind<?>> versions = byName.get(job.kind());
    if (versions == null) {
      return null;
    }
    return job.version() == 0 ? versions.lastEntry().getValue() : versions.get(job.version());
  }

  /** Those that have one. */
  List<KindVersion> versions() {
    return byName.values().stream()
        .flatMap(versions -> versions.values().stream())
        .filter(kind -> kind.version() > 0)
        .map(kind -> new KindVersion(kind.name(), kind.version()))
        .toList();
  }
}
