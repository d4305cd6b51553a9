package dev.holdfast.chaos.fleet;

/** Where the database of a run is: one server that may be killed, or a cluster that fails over. */
public interface PostgresServer extends AutoCloseable {
  /** For the processes of the program and for clients: faults of the network happen here. */
  String url();

  /** For the checks and the records of handlers: the network works. */
  String directUrl();

  String user();

  String password();

  @Override
  void close();
}
