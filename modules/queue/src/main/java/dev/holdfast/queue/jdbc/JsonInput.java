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
              refusal, verb + ": PostgreSQL cannot store this JSON: " + why(failed));
      refused.initCause(failed);
      throw refused;
    }
  }

  /** Not in the words of PostgreSQL, which quote what is wrong. */
  private static String why(SQLException failed) {
    return switch (SqlErrors.state(failed)) {
      case "22P05", "22021" -> "a text in it has the character NUL (\\u0000)";
      case "22003" -> "a number in it is too large";
      case "54001" -> "it is nested too deep";
      case "22P02" -> "it is malformed, or a text in it has half of a surrogate pair";
      default -> "a value in it is out of bounds";
    };
  }
}
