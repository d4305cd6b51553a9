package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.value.Plural;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/** The parameters of a problem as parts of a sentence, as this process found them or as JSON. */
record ProblemParameters(Map<String, Object> values) {
  String text(String name) {
    return String.valueOf(values.get(name));
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  boolean flag(String name) {
    return Boolean.TRUE.equals(values.get(name));
  }

  long number(String name) {
    return values.get(name) instanceof Number number ? number.longValue() : 0;
  }

  String jobs() {
    return Plural.of(number(Finding.JOBS), "job");
  }

  String notices() {
    return Plural.of(number(Finding.NOTICES), "notice");
  }

  boolean isOneJob() {
    return number(Finding.JOBS) == 1;
  }

  String reason() {
    return has(Finding.REASON) ? text(Finding.REASON) : "for an unknown reason";
  }

  /** Nobody needs the microseconds of a pause. */
  String moment(String name) {
    try {
      return Instant.parse(text(name)).truncatedTo(ChronoUnit.SECONDS).toString();
    } catch (DateTimeException unknown) {
      return text(name);
    }
  }

  /** The component, with the supervisor when several supervisors have a worker of that name. */
  String workerName() {
    String worker = text(Finding.WORKER);
    return flag(Finding.NAME_SHARED)
        ? "%s of supervisor '%s'".formatted(worker, text(Finding.SUPERVISOR))
        : worker;
  }
}
