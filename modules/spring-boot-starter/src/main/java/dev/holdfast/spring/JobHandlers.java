package dev.holdfast.spring;

import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * The handlers of an application: beans of type {@link Kind}, beans of type {@link Handler} with a
 * {@link JobHandler}, and methods of any bean that have one.
 */
final class JobHandlers {
  private final ConfigurableListableBeanFactory beans;

  JobHandlers(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  List<Kind<?>> find() {
    List<Kind<?>> kinds = new ArrayList<>();
    beans.getBeanProvider(ResolvableType.forClass(Kind.class)).stream()
        .forEach(kind -> kinds.add((Kind<?>) kind));
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : target(name);
      if (type != null) {
        addHandler(kinds, name, type);
        addMethods(kinds, name, type);
      }
    }
    return kinds;
  }

  private @Nullable Class<?> target(String name) {
    Class<?> target = AutoProxyUtils.determineTargetClass(beans, name);
    return target == null ? beans.getType(name) : target;
  }

  private void addHandler(List<Kind<?>> kinds, String name, Class<?> type) {
    if (!Handler.class.isAssignableFrom(type)) {
      return;
    }
    JobHandler marked = beans.findAnnotationOnBean(name, JobHandler.class);
    if (marked != null) {
      Supplier<Handler<Object>> bean = () -> handler(name);
      kinds.add(
          kind(
              marked,
              payload(name, type),
              (payload, context) -> bean.get().handle(payload, context)));
    }
  }

  @SuppressWarnings("unchecked") // Its payload is decoded to the type that it names itself.
  private Handler<Object> handler(String name) {
    return (Handler<Object>) beans.getBean(name);
  }

  private PayloadType<?> payload(String name, Class<?> type) {
    // A bean that is made by a method may be a lambda, whose class does not know the type.
    ResolvableType declared =
        beans.containsBeanDefinition(name)
            ? beans.getMergedBeanDefinition(name).getResolvableType()
            : ResolvableType.NONE;
    ResolvableType payload = declared.as(Handler.class).getGeneric(0);
    if (payload.resolve() == null) {
      payload = ResolvableType.forClass(type).as(Handler.class).getGeneric(0);
    }
    if (payload.resolve() == null) {
      throw new IllegalStateException(
          "@JobHandler on bean '%s': the type of its payload is not known; declare it as Handler<Mail>"
              .formatted(name));
    }
    return PayloadType.of(payload.getType());
  }

  private void addMethods(List<Kind<?>> kinds, String name, Class<?> type) {
    if (!AnnotationUtils.isCandidateClass(type, JobHandler.class)) {
      return;
    }
    Map<Method, JobHandler> methods =
        MethodIntrospector.selectMethods(
            type,
            (MethodIntrospector.MetadataLookup<JobHandler>)
                method -> AnnotatedElementUtils.findMergedAnnotation(method, JobHandler.class));
    // A method that makes a bean is not the handler; the bean is.
    methods.keySet().removeIf(method -> AnnotatedElementUtils.hasAnnotation(method, Bean.class));
    methods.forEach(
        (method, marked) -> {
          Class<?> seen = beans.getType(name);
          Method callable = AopUtils.selectInvocableMethod(method, seen == null ? type : seen);
          HandlerMethod handler = new HandlerMethod(() -> beans.getBean(name), type, callable);
          kinds.add(kind(marked, handler.payload(), handler));
        });
  }

  @SuppressWarnings("unchecked") // The payload is decoded to the type that the handler takes.
  private static Kind<Object> kind(
      JobHandler marked, PayloadType<?> payload, Handler<Object> handler) {
    Kind<Object> kind =
        Kind.of(marked.value(), (PayloadType<Object>) payload, handler)
            .producing(marked.artifacts())
            .threads(marked.threads());
    return marked.strict() ? kind.strictly() : kind;
  }
}
