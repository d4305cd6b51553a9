package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Metrics where the application has a registry for them. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnProperty(prefix = "holdfast", name = "enabled", matchIfMissing = true)
public class HoldfastMetricsAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  HoldfastMetrics holdfastMetrics(MeterRegistry registry) {
    return new HoldfastMetrics(registry);
  }

  /** Measures first, and so around everything else that runs around handlers. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  WorkerCustomizer holdfastWorkerMetrics(HoldfastMetrics metrics) {
    return (name, worker) -> metrics.worker(worker);
  }

  @Bean
  SmartInitializingSingleton holdfastQueueMetrics(
      HoldfastMetrics metrics, ObjectProvider<Holdfast> holdfast) {
    return () -> holdfast.ifAvailable(metrics::queues);
  }
}
