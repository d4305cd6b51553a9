package dev.holdfast.testkit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a {@link TestDatabase} to whoever has a parameter for it. Asked for in a test, a
 * constructor or {@code @BeforeEach} it is fresh for each test; asked for in {@code @BeforeAll} it
 * is the same for the whole class.
 */
public final class DatabaseExtension implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(DatabaseExtension.class);

  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return ExtensionContextScope.TEST_METHOD;
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TestDatabase.class;
  }

  // The store hands down what a surrounding class already has, and closes what it holds.
  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getStore(NAMESPACE)
        .computeIfAbsent(
            TestDatabase.class, key -> TestDatabase.migrated(server(context)), TestDatabase.class);
  }

  private static TestServer server(ExtensionContext context) {
    boolean durable =
        context.getRequiredTestClass().isAnnotationPresent(Durable.class)
            || context.getEnclosingTestClasses().stream()
                .anyMatch(outer -> outer.isAnnotationPresent(Durable.class));
    return durable ? TestServer.durable() : TestServer.fast();
  }
}
