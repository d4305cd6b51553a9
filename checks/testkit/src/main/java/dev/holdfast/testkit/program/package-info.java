/** The program as users get it, started in processes of its own. */
@NullMarked
package dev.holdfast.testkit.program;

import org.jspecify.annotations.NullMarked;
