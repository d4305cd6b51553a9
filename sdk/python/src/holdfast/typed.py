"""JSON as types of a program: dataclasses, models of pydantic, and what these are made of."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
import uuid
from datetime import date, datetime
from enum import Enum
from typing import Any

from .model import parse_time

SCALARS = (str, int, float, bool)
LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Misfit(ValueError):
    """The value is not of the type; the message says where."""


def is_model(type_: Any) -> bool:
    """Whether it is a dataclass or a model of pydantic, and not only checked by hand."""
    return isinstance(type_, type) and (
        dataclasses.is_dataclass(type_) or hasattr(type_, "__pydantic_validator__")
    )


def read(type_: Any, value: Any) -> Any:
    """``type_`` is a type, or a function that makes the value."""
    if isinstance(type_, type) or typing.get_origin(type_) is not None:
        return _read(type_, value, "")
    return type_(value)


def _read(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _read(arguments[0], value, where)
    if isinstance(hint, typing.NewType):
        return _read(hint.__supertype__, value, where)
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, value, where)
    if origin is typing.Literal:
        return _checked(any(value == one and type(value) is type(one) for one in arguments),
                        hint, value, where)  # fmt: skip
    if hint is None or hint is types.NoneType:
        return _checked(value is None, hint, value, where)
    if hint in SCALARS:
        allowed = (int, float) if hint is float else hint
        is_bool = isinstance(value, bool)
        return _checked(
            isinstance(value, allowed) and is_bool == (hint is bool), hint, value, where
        )
    if (origin or hint) in DICTS:
        _checked(isinstance(value, dict), hint, value, where)
        inner = arguments[1] if arguments else Any
        return {key: _read(inner, one, f"{where}.{key}") for key, one in value.items()}
    if (origin or hint) in LISTS:
        _checked(isinstance(value, list), hint, value, where)
        return _each([arguments[0] if arguments else Any] * len(value), value, where)
    if (origin or hint) is tuple:
        _checked(isinstance(value, list), hint, value, where)
        return tuple(_each(_places(arguments, hint, value, where), value, where))
    return _made(hint, value, where) if isinstance(hint, type) else value


def _places(arguments: tuple[Any, ...], hint: Any, value: list[Any], where: str) -> list[Any]:
    if not arguments or arguments[-1] is Ellipsis:
        return [arguments[0] if arguments else Any] * len(value)
    _checked(len(arguments) == len(value), hint, value, where)
    return list(arguments)


def _each(hints: list[Any], value: list[Any], where: str) -> list[Any]:
    return [_read(hint, one, f"{where}[{n}]") for n, (hint, one) in enumerate(zip(hints, value))]


def _one_of(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    for hint in hints:
        try:
            return _read(hint, value, where)
        except Misfit as misfit:
            why = misfit
    if len(hints) == 2 and types.NoneType in hints:
        hint = hints[0] if hints[1] is types.NoneType else hints[1]
        return _read(hint, value, where)  # its message says more
    raise Misfit(f"{_named(where)} is {_short(value)}: it fits none of its types") from why


def _made(type_: type, value: Any, where: str) -> Any:
    """A class of the program, or one that JSON has no value of."""
    validator = getattr(type_, "__pydantic_validator__", None)
    try:
        if validator is not None:
            return validator.validate_python(value)
        if issubclass(type_, Enum):
            return type_(value)
        if issubclass(type_, uuid.UUID):
            return uuid.UUID(value)
        if issubclass(type_, datetime):
            return parse_time(value)
        if issubclass(type_, date):
            return date.fromisoformat(value)
    except (ValueError, TypeError, AttributeError) as why:
        raise Misfit(f"{_named(where)}: {why}") from why
    return _dataclass(type_, value, where) if dataclasses.is_dataclass(type_) else value


def _dataclass(type_: Any, value: Any, where: str) -> Any:
    """Fields that it does not have are passed over: a newer producer may send them."""
    _checked(isinstance(value, dict), type_, value, where)
    try:
        hints = typing.get_type_hints(type_, include_extras=True)
    except Exception:
        hints = {}  # a name that only a function knows
    given = {}
    for field in dataclasses.fields(type_):
        if not field.init:
            continue
        if field.name in value:
            inner = hints.get(field.name, Any)
            given[field.name] = _read(inner, value[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Misfit(f"{_named(f'{where}.{field.name}')} is missing")
    return type_(**given)


def _checked(holds: bool, hint: Any, value: Any, where: str) -> Any:
    if not holds:
        name = hint.__name__ if isinstance(hint, type) else str(hint)
        raise Misfit(f"{_named(where)} is {_short(value)}: it must be {name}")
    return value


def _named(where: str) -> str:
    return f"field {where.lstrip('.')!r}" if where else "it"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def plain(value: Any) -> Any:
    """What the JSON encoder writes instead of a value that JSON does not have."""
    serializer = getattr(type(value), "__pydantic_serializer__", None)
    if serializer is not None:
        return serializer.to_python(value, mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
