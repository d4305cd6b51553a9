package dev.holdfast.app.config;

import dev.holdfast.app.setting.ContradictionException;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where tasks may be pushed to.
 *
 * @param timeout null for 10 seconds, or half of the heartbeat timeout where that is shorter
 */
@Section(title = "Dispatch", key = "dispatch")
public record DispatchConfig(
    @Declared(
            form = Declared.Form.HOSTS_AND_PORTS,
            about = "hosts that tasks may be pushed to, a list of host or host:port")
        Set<String> allow,
    @Declared(
            least = "1ms",
            about =
                "how long to wait for the answer to a push; 10s unless given, half of"
                    + " tasks.heartbeatTimeout at most")
        @Nullable Duration timeout,
    @Declared(sameAs = "tasks.heartbeatTimeout") Duration heartbeatTimeout) {
  public DispatchConfig {
    // The task is leased during the push and must be released before the lease expires.
    if (timeout != null && timeout.compareTo(heartbeatTimeout.dividedBy(2)) > 0) {
      throw new ContradictionException("timeout", "at most half of {}", "heartbeatTimeout");
    }
  }
}
