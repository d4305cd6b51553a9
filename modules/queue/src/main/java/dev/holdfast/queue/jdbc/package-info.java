/** Connections, transactions, rows, and what errors of PostgreSQL mean. */
@NullMarked
package dev.holdfast.queue.jdbc;

import org.jspecify.annotations.NullMarked;
