/** JSON as it is read and written on the wire. */
@NullMarked
package dev.holdfast.contract.json;

import org.jspecify.annotations.NullMarked;
