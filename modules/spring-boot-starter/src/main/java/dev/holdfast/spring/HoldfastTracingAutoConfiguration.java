package dev.holdfast.spring;

import dev.holdfast.opentelemetry.HoldfastTracing;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Traces where the application has OpenTelemetry. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.opentelemetry.OpenTelemetryAutoConfiguration",
      "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration"
    })
@ConditionalOnClass(OpenTelemetry.class)
@ConditionalOnBean(OpenTelemetry.class)
@ConditionalOnProperty(prefix = "holdfast", name = "enabled", matchIfMissing = true)
public class HoldfastTracingAutoConfiguration {
  /** Around handlers and enqueues, and around everything else that is. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  @ConditionalOnMissingBean
  HoldfastTracing holdfastTracing(OpenTelemetry openTelemetry) {
    return new HoldfastTracing(openTelemetry);
  }
}
