package dev.holdfast.scenarios;

import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives each test a {@link World} on a database of its own, and shows its output on failure. */
final class WorldExtension implements ParameterResolver, AfterTestExecutionCallback {
  private static final Namespace NAMESPACE = Namespace.create(WorldExtension.class);

  private final DatabaseExtension databases = new DatabaseExtension();

  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return databases.getTestInstantiationExtensionContextScope(root);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == World.class
        || databases.supportsParameter(parameter, context);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    TestDatabase database = (TestDatabase) databases.resolveParameter(parameter, context);
    return parameter.getParameter().getType() == World.class
        ? context
            .getStore(NAMESPACE)
            .computeIfAbsent(World.class, key -> World.on(database), World.class)
        : database;
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    @Nullable World world = context.getStore(NAMESPACE).get(World.class, World.class);
    if (world != null && context.getExecutionException().isPresent()) {
      world.printOutput();
    }
  }
}
