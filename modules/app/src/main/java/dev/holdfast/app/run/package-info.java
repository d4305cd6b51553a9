/** Commands that run a server, a worker, a supervisor, or all of them. */
@NullMarked
package dev.holdfast.app.run;

import org.jspecify.annotations.NullMarked;
