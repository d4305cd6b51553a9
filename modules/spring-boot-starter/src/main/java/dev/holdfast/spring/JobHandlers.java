package dev.holdfast.spring;

import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.schedule.Schedule;
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
import org.springframework.boot.convert.DurationStyle;
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

  /**
   * What an application declares.
   *
   * @param schedules of beans, and of those that stand beside handlers
   */
  record Found(List<Kind<?>> kinds, List<Schedule> schedules) {}

  Found find() {
    Found found = new Found(new ArrayList<>(), new ArrayList<>());
    beans.getBeanProvider(ResolvableType.forClass(Kind.class)).stream()
        .forEach(kind -> found.kinds().add((Kind<?>) kind));
    beans.getBeanProvider(Schedule.class).orderedStream().forEach(found.schedules()::add);
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : target(name);
      if (type != null) {
        addHandler(found, name, type);
        addMethods(found, name, type);
      }
    }
    return found;
  }

  private @Nullable Class<?> target(String name) {
    Class<?> target = AutoProxyUtils.determineTargetClass(beans, name);
    return target == null ? beans.getType(name) : target;
  }

  private void addHandler(Found found, String name, Class<?> type) {
    if (!Handler.class.isAssignableFrom(type)) {
      return;
    }
    JobHandler marked = beans.findAnnotationOnBean(name, JobHandler.class);
    if (marked != null) {
      Supplier<Handler<Object>> bean = () -> handler(name);
      found
          .kinds()
          .add(
              kind(
                  marked,
                  payload(name, type),
                  (payload, context) -> bean.get().handle(payload, context)));
      schedule(found, marked, beans.findAnnotationOnBean(name, JobSchedule.class));
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

  private void addMethods(Found found, String name, Class<?> type) {
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
          found.kinds().add(kind(marked, handler.payload(), handler));
          schedule(
              found, marked, AnnotatedElementUtils.findMergedAnnotation(method, JobSchedule.class));
        });
  }

  private void schedule(Found found, JobHandler handler, @Nullable JobSchedule marked) {
    if (marked != null) {
      new DeclaredSchedules(this::resolved)
          .of(handler.value(), marked)
          .ifPresent(found.schedules()::add);
    }
  }

  @SuppressWarnings("unchecked") // The payload is decoded to the type that the handler takes.
  private Kind<Object> kind(JobHandler marked, PayloadType<?> payload, Handler<Object> handler) {
    Kind<Object> kind =
        Kind.of(marked.value(), (PayloadType<Object>) payload, handler)
            .producing(marked.artifacts())
            .threads(marked.threads())
            .defaults(defaults(marked));
    Kind<Object> versioned =
        marked.version() == JobHandler.UNSET ? kind : kind.version(marked.version());
    return marked.strict() ? versioned.strictly() : versioned;
  }

  private JobDefaults defaults(JobHandler marked) {
    String queue = resolved(marked.queue());
    String timeout = resolved(marked.timeout());
    return new JobDefaults(
        queue.isEmpty() ? null : queue,
        number(marked.priority()),
        number(marked.maxAttempts()),
        number(marked.maxCrashes()),
        timeout.isEmpty() ? null : DurationStyle.detectAndParse(timeout));
  }

  private static @Nullable Integer number(int value) {
    return value == JobHandler.UNSET ? null : value;
  }

  private String resolved(String text) {
    String value = beans.resolveEmbeddedValue(text);
    return value == null ? "" : value;
  }
}
