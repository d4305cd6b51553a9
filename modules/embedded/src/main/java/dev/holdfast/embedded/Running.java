package dev.holdfast.embedded;

/** Where a running embedded server is and how to get in. */
public record Running(long pid, int port, String user, String password) {

  static final String USER = "holdfast";
  static final String DATABASE = "holdfast";

  static Running of(Postmaster postmaster, String password) {
    return new Running(postmaster.pid(), postmaster.port(), USER, password);
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + DATABASE;
  }

  /** The same for libpq, in a file of services. */
  String service() {
    return """
    [%s]
    host=127.0.0.1
    port=%d
    dbname=%s
    user=%s
    password=%s"""
        .formatted(DATABASE, port, DATABASE, user, password);
  }

  @Override
  public String toString() {
    return jdbcUrl() + " (user " + user + ", pid " + pid + ")";
  }
}
