"""A kind of job and the function that handles it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from .context import JobContext
from .errors import FailedException, FailureCategory
from .logs import current
from .outcome import Outcome, of_exception, of_result
from .stop import StopSignal
from .typed import is_model, read


class Kind:
    """Calls ``function(payload)`` or ``function(payload, ctx)``."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        process: bool = False,
        strict: bool = False,
        payload: type | Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.function = function
        self.process = process
        self.strict = strict
        self.is_async = inspect.iscoroutinefunction(function)
        self._convert = payload or _annotated(function)
        self._arguments = _arguments(name, function)
        if process and self.is_async:
            raise ValueError(f"handler of {name!r}: a process runs a plain function, not async")
        if process and ("<locals>" in function.__qualname__ or "<lambda>" in function.__qualname__):
            raise ValueError(
                f"handler of {name!r}: a function that runs in a process must be at the top level "
                "of a module, so that the process can import it"
            )

    def perform(self, value: Any, context: JobContext, signal: StopSignal) -> Outcome:
        current.set(context.job)  # until the thread begins with another job
        context.begins()
        while True:
            try:
                outcome = of_result(self.function(*self._given(value, context)), signal)
            except BaseException as error:
                outcome = of_exception(error, signal)
            end = context.left(outcome)
            if end is not None:
                return end

    async def perform_async(self, value: Any, context: JobContext, signal: StopSignal) -> Outcome:
        current.set(context.job)
        context.begins()
        while True:
            try:
                outcome = of_result(await self.function(*self._given(value, context)), signal)
            except BaseException as error:
                outcome = of_exception(error, signal)
            end = context.left(outcome)
            if end is not None:
                return end

    def _given(self, value: Any, context: JobContext) -> tuple[Any, ...]:
        if self._convert is not None:
            value = self._converted(value)
        return (value, context) if self._arguments == 2 else (value,)

    def _converted(self, value: Any) -> Any:
        convert = self._convert
        assert convert is not None
        try:
            return read(convert, value)
        except Exception as why:
            message = f"the payload does not fit {self.name!r}: {why}"
            raise FailedException(FailureCategory.DATA_QUALITY, "VALIDATION", message) from why


def _annotated(function: Callable[..., Any]) -> Any:
    """The type of the first argument, if that is one to make of JSON."""
    try:
        first = next(iter(inspect.signature(function).parameters))
        hint = typing.get_type_hints(function).get(first)
    except Exception:
        return None  # a name that is not known here
    return hint if is_model(hint) else None


def _arguments(name: str, function: Callable[..., Any]) -> int:
    positional = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
    ]
    if len(positional) not in (1, 2):
        raise ValueError(f"handler of {name!r}: write it as def f(payload) or def f(payload, ctx)")
    return len(positional)
