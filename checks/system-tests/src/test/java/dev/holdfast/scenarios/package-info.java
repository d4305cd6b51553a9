@NullMarked
package dev.holdfast.scenarios;

import org.jspecify.annotations.NullMarked;
