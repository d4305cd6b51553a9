package peers;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What the handlers call; tests ask what was sent. */
final class Mailer {
  private static final BlockingQueue<Mail> SENT = new LinkedBlockingQueue<>();

  private Mailer() {}

  static void send(Mail mail) {
    SENT.add(mail);
  }

  /** Each mail is taken once; that no other was sent is part of what is expected. */
  static void expect(Mail mail) throws InterruptedException {
    assertThat(SENT.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(mail);
    expectNothing();
  }

  static void expectNothing() {
    assertThat(SENT).isEmpty();
  }
}
