/**
 * Steps that heal. One attempt loop for code steps and workspace steps: run with timers, on success
 * a checkpoint, otherwise scrub, sign, classify and decide.
 */
@NullMarked
package dev.holdfast.steps;

import org.jspecify.annotations.NullMarked;
