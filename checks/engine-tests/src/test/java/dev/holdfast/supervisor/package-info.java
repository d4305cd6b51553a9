@NullMarked
package dev.holdfast.supervisor;

import org.jspecify.annotations.NullMarked;
