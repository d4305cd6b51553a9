/** Commands on jobs. */
@NullMarked
package dev.holdfast.app.jobs;

import org.jspecify.annotations.NullMarked;
