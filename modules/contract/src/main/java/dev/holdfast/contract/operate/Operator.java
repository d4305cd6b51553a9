package dev.holdfast.contract.operate;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.WorkerView;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that one caller can do as an operator, on the database itself or through a server. A value
 * that is not valid throws {@link dev.holdfast.model.value.RefusedException}; everything else that
 * is not done is an {@link OperatorException}.
 *
 * <p>Pauses and commands are recorded under the name of the caller: of the API key through a
 * server.
 */
public interface Operator extends AutoCloseable {
  JobOperator jobs();

  QueueOperator queues();

  ScheduleOperator schedules();

  WorkerOperator workers();

  KeyOperator keys();

  NoticeOperator notices();

  /** What is wrong now. */
  Health health();

  @Override
  void close();

  /**
   * All workers that are known.
   *
   * @param workersPausedAt since when all of them are paused; null when they are not
   * @param workersPause who has paused them, and why; null for a caller of one tenant
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Workers(
      @Nullable Instant workersPausedAt,
      @Nullable Pause workersPause,
      @JsonProperty(required = true) List<WorkerView> workers) {
    public Workers {
      workers = List.copyOf(workers);
    }
  }

  /**
   * @param about the versions of program, PostgreSQL and schema, for people
   * @param problems empty when all is well
   */
  record Health(String about, Workers workers, List<Problem> problems) {
    public Health {
      problems = List.copyOf(problems);
    }
  }

  /**
   * One thing that is wrong.
   *
   * @param parameters what it is about, for clients that word it themselves
   * @param httpHint what to do about it, over HTTP
   */
  record Problem(String code, Map<String, Object> parameters, String message, String httpHint) {
    public Problem {
      parameters =
          parameters == null
              ? Map.of()
              : Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }
  }
}
