@NullMarked
package dev.holdfast.process;

import org.jspecify.annotations.NullMarked;
