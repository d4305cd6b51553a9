@NullMarked
package dev.holdfast.steps;

import org.jspecify.annotations.NullMarked;
