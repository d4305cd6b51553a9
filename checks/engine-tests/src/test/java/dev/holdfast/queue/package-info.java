@NullMarked
package dev.holdfast.queue;

import org.jspecify.annotations.NullMarked;
