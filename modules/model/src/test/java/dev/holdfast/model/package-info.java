@NullMarked
package dev.holdfast.model;

import org.jspecify.annotations.NullMarked;
