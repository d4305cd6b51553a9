/** What goes over the wire. */
@NullMarked
package dev.holdfast.contract;

import org.jspecify.annotations.NullMarked;
