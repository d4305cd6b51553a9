package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One event of a job's timeline. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record EventResource(
    int number, String type, int attempt, Instant at, @Nullable JsonNode data) {
  public EventResource {
    Wire.present("type", type);
    Wire.present("at", at);
  }

  public static EventResource of(JobEvent event) {
    return new EventResource(
        event.number(), event.type(), event.attempt(), event.at(), Wire.tree(event.data()));
  }

  public JobEvent event(JobId job) {
    return new JobEvent(
        job, number, type, attempt, at, data == null ? Json.EMPTY : new Json(data.toString()));
  }

  /** All events of a job, in their order. */
  public record Timeline(List<EventResource> events) {
    public Timeline {
      events = List.copyOf(Wire.present("events", events));
    }
  }
}
