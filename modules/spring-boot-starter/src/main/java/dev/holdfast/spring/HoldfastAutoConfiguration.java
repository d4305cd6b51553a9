package dev.holdfast.spring;

import dev.holdfast.EnqueueMiddleware;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.JobRetention;
import dev.holdfast.model.value.Codec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Middleware;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Holdfast on the data source of the application, and its workers. */
@AutoConfiguration(
    // Named, because Spring Boot 4 has it in another package than Spring Boot 3.
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
    })
@ConditionalOnProperty(prefix = "holdfast", name = "enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
@EnableConfigurationProperties(HoldfastProperties.class)
public class HoldfastAutoConfiguration {
  /**
   * Payloads have the library's own format, and not that of the application's web pages: what is
   * stored outlives the settings of those.
   */
  @Bean
  @ConditionalOnMissingBean
  Codec holdfastCodec() {
    return new JacksonCodec();
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Holdfast holdfast(
      HoldfastProperties properties,
      ListableBeanFactory beans,
      ObjectProvider<DataSource> dataSource,
      @HoldfastDataSource ObjectProvider<DataSource> marked,
      Codec codec,
      ObjectProvider<StatementObserver> observer,
      ObjectProvider<EnqueueMiddleware> middleware,
      ObjectProvider<ArtifactStore> artifacts) {
    DataSource source = SpringTransaction.target(own(beans, dataSource, marked));
    if (properties.migrate()) {
      Migrations.apply(source, properties.allowUnsafe());
    }
    JobStore.Options options =
        new JobStore.Options(
            properties.connections(),
            observer.getIfAvailable(() -> StatementObserver.NONE),
            properties.retries().defaults());
    Holdfast holdfast =
        Holdfast.on(source, codec, options)
            .joining(new SpringTransaction(source, properties.allowForeignTransactions()));
    middleware.orderedStream().reduce(EnqueueMiddleware::around).ifPresent(holdfast::aroundEnqueue);
    if (properties.check()) {
      holdfast.store().check(properties.allowUnsafe());
    }
    retain(holdfast, properties, artifacts);
    return holdfast;
  }

  private static DataSource own(
      ListableBeanFactory beans,
      ObjectProvider<DataSource> dataSource,
      ObjectProvider<DataSource> marked) {
    boolean unmarked = false;
    try {
      DataSource one = marked.getIfAvailable();
      unmarked = one == null;
      return one == null ? dataSource.getObject() : one;
    } catch (NoUniqueBeanDefinitionException several) {
      Collection<String> names = several.getBeanNamesFound();
      throw new AmbiguousDataSourceException(
          names == null ? List.of(beans.getBeanNamesForType(DataSource.class)) : names, !unmarked);
    }
  }

  private static void retain(
      Holdfast holdfast, HoldfastProperties properties, ObjectProvider<ArtifactStore> artifacts) {
    JobRetention policy = properties.retention().policy();
    if (!policy.ages().isEmpty()) {
      Path folder = properties.worker().folder();
      holdfast.retention(
          policy,
          artifacts.getIfAvailable(
              () -> new FolderStore(folder == null ? Path.of(".holdfast") : folder)));
    }
  }

  @Bean
  @ConditionalOnMissingBean
  HoldfastWorkers holdfastWorkers(
      Holdfast holdfast,
      HoldfastProperties properties,
      ConfigurableListableBeanFactory beans,
      Environment environment,
      ObjectProvider<WorkerCustomizer> customizers,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<Middleware> middleware,
      ObjectProvider<ArtifactStore> artifacts) {
    return new HoldfastWorkers(
        holdfast,
        properties,
        new JobHandlers(beans),
        new HoldfastWorkers.Extras(
            customizers.orderedStream().toList(),
            listeners.orderedStream().toList(),
            middleware.orderedStream().toList(),
            artifacts.stream().toList(),
            environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)));
  }
}
