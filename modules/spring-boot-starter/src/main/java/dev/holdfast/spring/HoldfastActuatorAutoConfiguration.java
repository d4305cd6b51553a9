package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the Actuator shows of Holdfast, where the application has it. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnBean(HoldfastWorkers.class)
public class HoldfastActuatorAutoConfiguration {

  /** The endpoint. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      name =
          "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
  static class EndpointConfiguration {
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint(endpoint = HoldfastEndpoint.class)
    HoldfastEndpoint holdfastEndpoint(Holdfast holdfast, HoldfastWorkers workers) {
      return new HoldfastEndpoint(holdfast, workers);
    }
  }

  /** The health indicator of Spring Boot 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
  @ConditionalOnProperty(
      prefix = "management.health.holdfast",
      name = "enabled",
      matchIfMissing = true)
  static class HealthOfBoot3 {
    @Bean
    org.springframework.boot.actuate.health.HealthIndicator holdfastHealthIndicator(
        Holdfast holdfast, HoldfastWorkers workers) {
      HealthReport report = new HealthReport(holdfast, workers);
      return () -> {
        try {
          return org.springframework.boot.actuate.health.Health.up()
              .withDetails(report.details())
              .build();
        } catch (RuntimeException e) {
          return org.springframework.boot.actuate.health.Health.down(e).build();
        }
      };
    }
  }

  /** The same of Spring Boot 4, which has it in another package. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
  @ConditionalOnProperty(
      prefix = "management.health.holdfast",
      name = "enabled",
      matchIfMissing = true)
  static class HealthOfBoot4 {
    @Bean
    org.springframework.boot.health.contributor.HealthIndicator holdfastHealthIndicator(
        Holdfast holdfast, HoldfastWorkers workers) {
      HealthReport report = new HealthReport(holdfast, workers);
      return () -> {
        try {
          return org.springframework.boot.health.contributor.Health.up()
              .withDetails(report.details())
              .build();
        } catch (RuntimeException e) {
          return org.springframework.boot.health.contributor.Health.down(e).build();
        }
      };
    }
  }
}
