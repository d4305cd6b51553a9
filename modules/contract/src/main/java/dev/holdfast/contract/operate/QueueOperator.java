package dev.holdfast.contract.operate;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an operator can do with queues. A caller of one tenant may only look at them. */
public interface QueueOperator {
  List<View> list();

  /** One queue; one of which nothing is known is empty. */
  View show(String queue);

  /** Claims no more jobs of it; running jobs continue. */
  View pause(String queue, @Nullable String reason);

  /** False when the queue was not paused. */
  boolean resume(String queue);

  /** How many jobs run at once; null is no limit. The rate stays. */
  View limit(String queue, @Nullable Integer maxRunning);

  /** How many jobs start over time; null is no limit. How many run at once stays. */
  View rate(String queue, @Nullable RateLimit rate);

  /** Pushes its tasks to a URL. */
  View push(Dispatch dispatch);

  /** Throws {@link OperatorException.Reason#NOT_FOUND} when it was not pushed anywhere. */
  void stopPushing(String queue);

  /**
   * A queue.
   *
   * @param pause who has paused it by itself, and why; null for a caller of one tenant
   * @param dispatch where its tasks are pushed to; null if nowhere, and for a caller of one tenant
   * @param created true if the queue was not known before it was changed; otherwise null
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record View(
      @JsonUnwrapped QueueStatus status,
      @Nullable Pause pause,
      @Nullable PushedTo dispatch,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean created) {
    public String name() {
      return status.name();
    }
  }

  /**
   * Where tasks are pushed to.
   *
   * @param url without user, query and fragment, which may hold secrets
   */
  record PushedTo(String url, int maxInFlight) {}
}
