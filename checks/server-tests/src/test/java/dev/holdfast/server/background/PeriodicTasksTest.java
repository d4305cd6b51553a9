package dev.holdfast.server.background;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** The queue logs an outage itself; every other failure of a periodic task is logged here. */
class PeriodicTasksTest {
  private static DatabaseException exception(Reason reason, String state) {
    return new DatabaseException(reason, "on purpose", new SQLException("on purpose", state));
  }

  private static Level levelOf(RuntimeException error) {
    Logger logger = new LoggerContext().getLogger("periodic");
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.setLevel(Level.DEBUG);
    logger.addAppender(log);
    PeriodicTasks.logFailure(logger, "a task", error);
    assertThat(log.list).hasSize(1);
    return log.list.getFirst().getLevel();
  }

  @Test
  void an_outage_is_logged_at_debug_a_busy_database_at_warn_and_the_rest_at_error() {
    assertThat(levelOf(exception(Reason.UNAVAILABLE, "08006"))).isEqualTo(Level.DEBUG);
    assertThat(levelOf(exception(Reason.UNAVAILABLE, "55P03"))).isEqualTo(Level.WARN);
    assertThat(levelOf(exception(Reason.UNAVAILABLE, "57014"))).isEqualTo(Level.WARN);
    assertThat(levelOf(exception(Reason.NOT_ALLOWED, "42501"))).isEqualTo(Level.ERROR);
    assertThat(levelOf(new IllegalStateException("a bug"))).isEqualTo(Level.ERROR);
  }
}
