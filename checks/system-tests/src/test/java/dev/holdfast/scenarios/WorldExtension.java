package dev.holdfast.scenarios;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Processes;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.slf4j.LoggerFactory;

/**
 * Gives each test a {@link World} on a database of its own, or {@link Processes} without one, and
 * shows their output when it fails.
 */
final class WorldExtension
    implements BeforeAllCallback, ParameterResolver, AfterTestExecutionCallback {
  private static final Namespace NAMESPACE = Namespace.create(WorldExtension.class);

  static {
    // In these tests connections break on purpose. Here, because logging must be set up by one
    // thread before others ask for it.
    ((Logger) LoggerFactory.getLogger("com.zaxxer.hikari")).setLevel(Level.ERROR);
  }

  private final DatabaseExtension databases = new DatabaseExtension();

  @Override
  public void beforeAll(ExtensionContext context) {
    AssembledProgram.prepare();
  }

  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return databases.getTestInstantiationExtensionContextScope(root);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == World.class
        || type == Processes.class
        || databases.supportsParameter(parameter, context);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    Store store = context.getStore(NAMESPACE);
    if (type == Processes.class) {
      return store.computeIfAbsent(type, key -> new Processes(), Processes.class);
    }
    TestDatabase database = (TestDatabase) databases.resolveParameter(parameter, context);
    return type == World.class
        ? store.computeIfAbsent(type, key -> World.on(database), World.class)
        : database;
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) {
      Store store = context.getStore(NAMESPACE);
      Optional.ofNullable(store.get(World.class, World.class)).ifPresent(World::printOutput);
      Optional.ofNullable(store.get(Processes.class, Processes.class))
          .ifPresent(Processes::printOutput);
    }
  }
}
