/**
 * The library a service embeds. It brings no programs, process trees or git: {@code
 * holdfast-programs} and {@code holdfast-workspace} are added by those who need them. It depends on
 * {@code dev.holdfast.redaction} only for the default of {@link dev.holdfast.WorkerBuilder#redact},
 * which hides secrets in the texts of failures.
 */
@NullMarked
package dev.holdfast;

import org.jspecify.annotations.NullMarked;
