/** The job source of workers that reach a server instead of the database. */
@NullMarked
package dev.holdfast.client.worker;

import org.jspecify.annotations.NullMarked;
