package dev.holdfast.testkit.proxy;

import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The answers that are to be lost, each exactly once, on whichever connection asks first. */
public final class LostReplies {
  private record Armed(String text, CountDownLatch lost) {}

  private final Queue<Armed> armed = new ConcurrentLinkedQueue<>();

  public CountDownLatch arm(String text) {
    CountDownLatch lost = new CountDownLatch(1);
    armed.add(new Armed(text, lost));
    return lost;
  }

  public Watch watch(Requests requests) {
    return new Watch(requests);
  }

  /** Follows one connection. */
  public final class Watch {
    private final Requests requests;
    private final AtomicReference<@Nullable Armed> due = new AtomicReference<>();
    private volatile boolean answered;

    public Watch(Requests requests) {
      this.requests = requests;
    }

    /** Called before the bytes are forwarded, hence before the server can answer them. */
    public void request(byte[] chunk, int length) {
      for (String executed : requests.add(chunk, length)) {
        Optional<Armed> match =
            armed.stream().filter(candidate -> executed.contains(candidate.text())).findFirst();
        // Another connection may have taken it in the meantime.
        if (match.isPresent() && armed.remove(match.get())) {
          due.set(match.get());
          return;
        }
      }
    }

    /** Called when the server has answered. */
    public boolean losesReply() {
      answered = due.get() != null;
      return answered;
    }

    public void connectionEnded() {
      Armed candidate = due.get();
      if (candidate != null && answered) {
        candidate.lost().countDown();
      }
    }
  }
}
