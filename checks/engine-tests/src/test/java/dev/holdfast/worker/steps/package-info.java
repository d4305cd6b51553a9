@NullMarked
package dev.holdfast.worker.steps;

import org.jspecify.annotations.NullMarked;
