/** A PostgreSQL cluster that fails over by itself, and the faults that make it do so. */
@NullMarked
package dev.holdfast.chaos.cluster;

import org.jspecify.annotations.NullMarked;
