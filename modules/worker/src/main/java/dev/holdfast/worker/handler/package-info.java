/** What a handler implements, and what it is given. */
@NullMarked
package dev.holdfast.worker.handler;

import org.jspecify.annotations.NullMarked;
