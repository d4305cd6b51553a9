package dev.holdfast.testkit.page;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** One {@link Browser} for all test classes of this process; it is closed after the last one. */
public final class BrowserExtension implements BeforeAllCallback, ParameterResolver {
  /** Not when the parameter is asked for: without Chromium, a class is skipped here. */
  @Override
  public void beforeAll(ExtensionContext context) {
    browser(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Browser.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return browser(context);
  }

  private static Browser browser(ExtensionContext context) {
    Store store = context.getRoot().getStore(Namespace.create(BrowserExtension.class));
    return store.computeIfAbsent(Browser.class, key -> Browser.start(), Browser.class);
  }
}
