package springshop;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.JobHandler;
import dev.holdfast.worker.handler.JobContext;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The jobs of an order. */
@Component
public class OrderJobs {
  private static final Logger log = LoggerFactory.getLogger(OrderJobs.class);

  private final JdbcClient jdbc;
  private final Holdfast holdfast;

  OrderJobs(JdbcClient jdbc, Holdfast holdfast) {
    this.jdbc = jdbc;
    this.holdfast = holdfast;
  }

  // region handlers
  /** What it returns is the job's result; what it throws fails the attempt. */
  @JobHandler("send-mail")
  public Map<String, Object> sendMail(Order order) {
    log.info("mail to {}: thank you for order {}", order.customer(), order.id());
    return Map.of("sent", true);
  }

  /** The entry and the end of the job are one transaction, so the entry is made exactly once. */
  @Transactional
  @JobHandler("post-invoice")
  public void postInvoice(Order order, JobContext context) {
    jdbc.sql("INSERT INTO ledger (order_id, cents) VALUES (?, ?)")
        .params(order.id(), order.cents())
        .update();
    holdfast.succeed(context, Map.of("posted", order.cents()));
  }
  // endregion
}
