package dev.holdfast.queue.jdbc;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.sql.SQLException;

/** Writes JSON that comes from a caller: what PostgreSQL cannot store is refused. */
public final class JsonInput {
  private JsonInput() {}

  /** The statements that write it. */
  public interface Work<T> {
    T run() throws SQLException;
  }

  /**
   * @param verb begins the message
   * @param refusal which of the caller's values it is
   */
  public static <T> T store(String verb, Refusal refusal, Work<T> work) throws SQLException {
    try {
      return work.run();
    } catch (SQLException failed) {
      if (!SqlErrors.isBadData(failed)) {
        throw failed;
      }
      RefusedException refused =
          new RefusedException(
              refusal, verb + ": not JSON that PostgreSQL can store: " + failed.getMessage());
      refused.initCause(failed);
      throw refused;
    }
  }
}
