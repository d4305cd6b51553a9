package dev.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do, without a stack trace, when an application has several data sources. */
final class DataSourceFailureAnalyzer
    extends AbstractFailureAnalyzer<AmbiguousDataSourceException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, AmbiguousDataSourceException error) {
    return new FailureAnalysis(
        "Holdfast cannot choose its database: " + error.getMessage(),
        "Add @HoldfastDataSource beside the @Bean of that data source.",
        error);
  }
}
