package springshop;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Takes orders. */
@Service
@RestController
public class Orders {
  private final JdbcClient jdbc;
  private final Holdfast holdfast;

  Orders(JdbcClient jdbc, Holdfast holdfast) {
    this.jdbc = jdbc;
    this.holdfast = holdfast;
  }

  // region place
  /** The order and its jobs commit together, or not at all. */
  @Transactional
  @PostMapping("/orders")
  public List<Enqueued> place(@RequestBody Order order) {
    jdbc.sql("INSERT INTO orders (id, cents) VALUES (?, ?)")
        .params(order.id(), order.cents())
        .update();
    return holdfast.enqueue(List.of(Job.of("send-mail", order), Job.of("post-invoice", order)));
  }
  // endregion
}
