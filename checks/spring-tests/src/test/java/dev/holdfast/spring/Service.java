package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Middleware;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** An application with handlers of every sort. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({
  Service.Methods.class,
  Service.Orders.class,
  Service.ByClass.class,
  Service.Heard.class,
  Service.Declared.class
})
class Service {
  record Greeting(String name) {}

  static final class RefusedOrder extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Handlers as methods. */
  static class Methods extends Base<Greeting> {
    @JobHandler("greet")
    String greet(Greeting greeting, JobContext context) {
      return "Hello %s, attempt %d of %s"
          .formatted(greeting.name(), context.lease().attempt(), context.id());
    }

    @JobHandler("sum")
    long sum(List<Long> numbers) {
      return numbers.stream().mapToLong(Long::longValue).sum();
    }

    @JobHandler("tick")
    void tick() {}

    @JobHandler("fail")
    void fail() throws Exception {
      throw new Exception("no such luck");
    }
  }

  /** A superclass that leaves the payload open. */
  abstract static class Base<T extends Greeting> {
    @JobHandler("inherited")
    String inherited(JobContext context, T payload) {
      return payload.name();
    }
  }

  /** A bean behind a proxy, for its transactions. */
  static class Orders {
    private final Holdfast holdfast;
    private final JdbcTemplate jdbc;
    private volatile JobId last = JobId.next();

    Orders(Holdfast holdfast, JdbcTemplate jdbc) {
      this.holdfast = holdfast;
      this.jdbc = jdbc;
    }

    @Transactional
    JobId place(int order, boolean refused) {
      jdbc.update("INSERT INTO orders VALUES (?)", order);
      last = holdfast.enqueue(Job.of("tick").queue("orders")).id();
      if (refused) {
        throw new RefusedOrder();
      }
      return last;
    }

    JobId last() {
      return last;
    }

    @Transactional
    @JobHandler("post")
    void post(int order, JobContext context) {
      jdbc.update("INSERT INTO orders VALUES (?)", order);
      holdfast.succeed(context, Map.of("posted", order));
      if (order < 0) {
        throw new RefusedOrder();
      }
    }
  }

  /** A handler as a bean. */
  @JobHandler("by-class")
  static class ByClass implements Handler<Greeting> {
    @Override
    public Object handle(Greeting greeting, JobContext context) {
      return "class " + greeting.name();
    }
  }

  /** What is declared beside handlers. */
  static class Declared {
    // region schedule
    @JobHandler(value = "nightly-report", queue = "reports", maxAttempts = 5, timeout = "10m")
    @JobSchedule(cron = "0 3 * * *", zone = "Europe/Berlin", overlap = false)
    void report() {}

    @JobHandler("refresh")
    @JobSchedule(every = "${refresh.interval:30s}")
    void refresh() {}

    // endregion

    @JobHandler("switched-off")
    @JobSchedule(cron = "-")
    void switchedOff() {}
  }

  // region schedule-bean
  @Bean
  Schedule weekly() {
    Job job = Job.of("nightly-report").priority(8);
    return Schedule.of("weekly", "@weekly", ZoneId.of("UTC"), job);
  }

  // endregion

  // region beans
  @Bean
  @JobHandler("by-lambda")
  Handler<List<Greeting>> byLambda() {
    return (greetings, context) -> "lambda " + greetings.getFirst().name();
  }

  @Bean
  Kind<Greeting> byKind() {
    return Kind.of("by-kind", Greeting.class, (greeting, context) -> "kind " + greeting.name());
  }

  // endregion

  /** What the middleware and listener beans recorded. */
  static class Heard implements Middleware, JobListener, WorkerCustomizer {
    private final List<String> all = new CopyOnWriteArrayList<>();

    List<String> all() {
      return all;
    }

    @Override
    public Object around(JobContext context, Next next) throws Exception {
      all.add("around " + context.id());
      return next.run();
    }

    @Override
    public void settled(LeasedJob job, Settlement settlement, Ack ack) {
      all.add("settled " + job.id());
    }

    @Override
    public void customize(String name, dev.holdfast.WorkerBuilder worker) {
      all.add("customized " + name);
    }
  }
}
