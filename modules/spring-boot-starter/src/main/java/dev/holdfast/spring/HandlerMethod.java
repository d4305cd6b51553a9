package dev.holdfast.spring;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.util.ReflectionUtils;

/** A method of a bean as a handler. */
final class HandlerMethod implements Handler<Object> {
  private final Supplier<Object> bean;
  private final Method method;
  private final PayloadType<?> payload;

  /**
   * @param owner the class of the bean, which may name what its superclass leaves open
   * @param method as it can be called on the bean, which may be a proxy
   */
  HandlerMethod(Supplier<Object> bean, Class<?> owner, Method method) {
    this.bean = bean;
    this.method = method;
    this.payload = payload(owner, method);
    if (Future.class.isAssignableFrom(method.getReturnType())) {
      throw new IllegalStateException(
          "@JobHandler %s returns a future: wait for it, and return the result itself"
              .formatted(name(method)));
    }
    ReflectionUtils.makeAccessible(method);
  }

  PayloadType<?> payload() {
    return payload;
  }

  private static PayloadType<?> payload(Class<?> owner, Method method) {
    Type found = null;
    for (Type type : method.getGenericParameterTypes()) {
      if (type != JobContext.class && type != LeasedJob.class) {
        if (found != null) {
          throw new IllegalStateException(
              "@JobHandler %s takes two payloads: a method may take one, a JobContext and a LeasedJob"
                  .formatted(name(method)));
        }
        found = GenericTypeResolver.resolveType(type, owner);
      }
    }
    return found == null ? PayloadType.of(Json.class) : PayloadType.of(found);
  }

  static String name(Method method) {
    return method.getDeclaringClass().getSimpleName() + "." + method.getName();
  }

  @Override
  public @Nullable Object handle(Object value, JobContext context) throws Exception {
    Class<?>[] types = method.getParameterTypes();
    Object[] arguments = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      if (types[i] == JobContext.class) {
        arguments[i] = context;
      } else {
        arguments[i] = types[i] == LeasedJob.class ? context.job() : value;
      }
    }
    try {
      return method.invoke(bean.get(), arguments);
    } catch (InvocationTargetException thrown) {
      Throwable cause = thrown.getCause();
      if (cause instanceof Exception exception) {
        throw exception;
      }
      if (cause instanceof Error error) {
        throw error;
      }
      throw thrown;
    }
  }
}
