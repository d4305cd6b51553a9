/**
 * Holdfast in a Spring Boot service. An application uses {@link dev.holdfast.spring.JobHandler},
 * {@link dev.holdfast.spring.HoldfastWorkers}, {@link dev.holdfast.spring.WorkerCustomizer} and
 * {@link dev.holdfast.spring.HoldfastDataSource}; the rest is configuration.
 */
@NullMarked
package dev.holdfast.spring;

import org.jspecify.annotations.NullMarked;
