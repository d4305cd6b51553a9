package dev.holdfast.test;

import dev.holdfast.Holdfast;
import dev.holdfast.queue.schema.Migrations;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a {@link Holdfast}, its {@link DataSource} and a {@link TestTime} to tests and
 * {@code @BeforeEach} methods that have parameters of these types.
 *
 * <p>{@code @ExtendWith(HoldfastExtension.class)} gives every test an empty database of its own, on
 * an embedded PostgreSQL that all tests of the process share. {@link #on} uses a database of yours:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final HoldfastExtension database = HoldfastExtension.on(() -> dataSource(container)).emptied();
 * }</pre>
 */
public final class HoldfastExtension
    implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private final Supplier<TestedDatabase> databases;
  private final Map<String, Tested> tests = new ConcurrentHashMap<>();

  private record Tested(TestedDatabase database, Holdfast holdfast, TestTime time) {}

  /** An empty database for every test, on the embedded PostgreSQL. */
  public HoldfastExtension() {
    this(() -> EmbeddedServer.get().create());
  }

  private HoldfastExtension(Supplier<TestedDatabase> databases) {
    this.databases = databases;
  }

  /** An empty database for every test, on the embedded PostgreSQL. */
  public static HoldfastExtension embedded() {
    return new HoldfastExtension();
  }

  /**
   * A database of yours, such as one in a container. Its schema {@code holdfast} is made if it is
   * missing, and nothing is deleted.
   *
   * @param dataSource asked before each test, so that it may be made after this extension
   */
  public static HoldfastExtension on(Supplier<DataSource> dataSource) {
    return new HoldfastExtension(
        () -> {
          DataSource source = dataSource.get();
          Migrations.apply(source, true);
          return new TestedDatabase(source, () -> {});
        });
  }

  /** The same, but all that is in the schema {@code holdfast} is deleted before each test. */
  public HoldfastExtension emptied() {
    return new HoldfastExtension(
        () -> {
          TestedDatabase database = databases.get();
          database.empty();
          return database;
        });
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    TestedDatabase database = databases.get();
    Holdfast holdfast = Holdfast.on(database.dataSource());
    tests.put(context.getUniqueId(), new Tested(database, holdfast, TestTime.of(holdfast)));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Tested tested = tests.remove(context.getUniqueId());
    if (tested != null) {
      tested.holdfast().close();
      tested.database().close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Holdfast.class || type == DataSource.class || type == TestTime.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Tested tested = tests.get(context.getUniqueId());
    if (tested == null) {
      throw new ParameterResolutionException(
          "a database is made for each test: take it in the test itself or in @BeforeEach");
    }
    Class<?> type = parameter.getParameter().getType();
    if (type == Holdfast.class) {
      return tested.holdfast();
    }
    return type == DataSource.class ? tested.database().dataSource() : tested.time();
  }
}
