/**
 * A model of the queue: the rules of the specification as plain code in memory, without a database.
 * A test carries out the same verbs on it and on PostgreSQL and compares every answer and every
 * row.
 */
@NullMarked
package dev.holdfast.simulation.queue;

import org.jspecify.annotations.NullMarked;
