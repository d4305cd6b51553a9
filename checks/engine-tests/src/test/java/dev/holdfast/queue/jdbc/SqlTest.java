package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.queue.QueueFixture;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Named parameters: translated to positions once, and a wrong name throws. */
class SqlTest extends QueueFixture {
  @Test
  void names_become_positions_in_the_order_of_the_text() {
    Sql sql = Sql.of("SELECT :b, :a, :b WHERE x = :longer_Name1");
    assertThat(sql.text()).isEqualTo("SELECT ?, ?, ? WHERE x = ?");
    assertThat(sql.names()).containsExactly("b", "a", "longer_Name1");
  }

  @Test
  void a_colon_that_begins_no_name_is_unchanged() {
    String text =
        """
        SELECT x::text, (array_agg(y))[1 : 2], ':no' || 'it''s :no', ":no" -- it's :no, is it?
          /* :no ? */ FROM t WHERE a::int[] = '{}' AND b = '?'
        """;
    assertThat(Sql.of(text).text()).isEqualTo(text);
    assertThat(Sql.of(text).names()).isEmpty();
  }

  @Test
  void a_cast_and_a_slice_may_follow_a_name_or_precede_it() {
    assertThat(Sql.of("SELECT :a::text, z[1 : :b]").text()).isEqualTo("SELECT ?::text, z[1 : ?]");
  }

  @Test
  void a_parameter_without_a_name_is_refused() {
    assertThatThrownBy(() -> Sql.of("SELECT 1 WHERE x = ?"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("without a name");
  }

  @Test
  void an_unterminated_literal_or_comment_extends_to_the_end() {
    assertThat(Sql.of("SELECT ':a").names()).isEmpty();
    assertThat(Sql.of("SELECT 1 -- :a").names()).isEmpty();
    assertThat(Sql.of("SELECT 1 /* :a").names()).isEmpty();
  }

  @Test
  void fragments_replace_their_names_and_bring_their_own_parameters() {
    Sql sql = Sql.of("SELECT ${x} FROM t WHERE ${y} OR ${y}", "x", " :a \n", "y", "b = :b");
    assertThat(sql.text()).isEqualTo("SELECT ? FROM t WHERE b = ? OR b = ?");
    assertThat(sql.names()).containsExactly("a", "b");
  }

  @Test
  void a_fragment_without_a_placeholder_and_the_reverse_are_refused() {
    assertThatThrownBy(() -> Sql.of("SELECT 1", "x", "y")).hasMessageContaining("${x}");
    assertThatThrownBy(() -> Sql.of("SELECT ${x}")).hasMessageContaining("${x}");
  }

  @Test
  void values_are_bound_by_name_wherever_the_name_occurs() throws SQLException {
    Sql sql = Sql.of("SELECT :b::text || :a::text || :b::text AS joined WHERE :n::int IS NULL");
    try (Connection connection = db.connection()) {
      String joined =
          sql.on(connection)
              .set("a", "-")
              .set("n", null)
              .set("b", "x")
              .only(row -> row.getString("joined"));
      assertThat(joined).isEqualTo("x-x");
    }
  }

  @Test
  void the_same_statement_by_key_gives_the_same_rows() throws SQLException {
    Lease lease = running();
    Sql sql = Sql.of("SELECT id, attempt FROM holdfast.job WHERE id = ANY (:jobs::uuid[])");
    try (Connection connection = db.connection()) {
      assertThat(sql.on(connection).set("jobs", one(connection, lease)).listByKey(Rows::lease))
          .containsExactly(lease);
      assertThat(sql.on(connection).set("jobs", one(connection, lease)).list(Rows::lease))
          .containsExactly(lease);
    }
  }

  private static Array one(Connection connection, Lease lease) throws SQLException {
    return Rows.ids(connection, List.of(lease));
  }

  @Test
  void a_name_that_the_statement_does_not_have_fails() throws SQLException {
    Sql sql = Sql.of("SELECT :a");
    try (Connection connection = db.connection()) {
      assertThatThrownBy(() -> sql.on(connection).set("b", 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no parameter :b, only [a]");
    }
  }

  @Test
  void a_name_that_is_not_bound_fails_before_anything_is_sent() throws SQLException {
    Sql sql = Sql.of("SELECT :a, :b");
    try (Connection connection = db.connection()) {
      Sql.Call call = sql.on(connection).set("a", 1);
      assertThatThrownBy(() -> call.list(row -> true)).hasMessageContaining(":b is not bound");
      assertThatThrownBy(() -> call.listByKey(row -> true)).hasMessageContaining(":b is not bound");
      assertThatThrownBy(call::update).hasMessageContaining(":b is not bound");
    }
  }

  @Test
  void a_name_that_is_bound_twice_fails() throws SQLException {
    Sql sql = Sql.of("SELECT :a");
    try (Connection connection = db.connection()) {
      Sql.Call call = sql.on(connection).set("a", null);
      assertThatThrownBy(() -> call.set("a", null)).hasMessageContaining("bound twice");
    }
  }
}
