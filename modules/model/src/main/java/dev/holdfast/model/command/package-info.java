/** What operators ask of jobs and workers. */
@NullMarked
package dev.holdfast.model.command;

import org.jspecify.annotations.NullMarked;
