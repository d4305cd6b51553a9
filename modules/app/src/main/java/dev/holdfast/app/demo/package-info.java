/** The demo, and the kinds of job that come with the program. */
@NullMarked
package dev.holdfast.app.demo;

import org.jspecify.annotations.NullMarked;
