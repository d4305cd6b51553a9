/**
 * Connections, transactions, rows, and what errors of PostgreSQL mean.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.queue.jdbc.DatabaseException} and {@link dev.holdfast.queue.jdbc.StatementObserver}.
 */
@NullMarked
package dev.holdfast.queue.jdbc;

import org.jspecify.annotations.NullMarked;
