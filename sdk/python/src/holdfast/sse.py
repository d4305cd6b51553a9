"""Server-sent events as an iterator that survives outages."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from urllib.parse import quote

from .errors import ServerUnavailableException
from .http import Backoff, Http, problem
from .model import Event

# The server sends a comment every 15 seconds without news.
SILENCE = 45.0
LONGEST_LINE = 16 * 1024 * 1024


def stream(http_: Http, topics: tuple[str, ...]) -> Iterator[Event]:
    last: str | None = None
    backoff = Backoff(0.25, 10.0)
    while True:
        try:
            for event in _connected(http_, topics, last):
                backoff.reset()
                last = event.id or last
                yield event
            away: ServerUnavailableException | None = None
        except ServerUnavailableException as failure:
            away = failure
        time.sleep(backoff.pause(away))


def _connected(http_: Http, topics: tuple[str, ...], last: str | None) -> Iterator[Event]:
    path = http_.base + "/v1/events"
    if topics:
        path += "?topics=" + quote(",".join(topics), safe="*,:")
    with http_.connection(SILENCE) as connection:
        headers = http_.headers() | {"Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise problem(response.status, response.headers.get("Retry-After"), response.read())
        try:
            yield from parse(response)
        finally:
            connection.close()


def parse(lines: http.client.HTTPResponse) -> Iterator[Event]:
    """Events are separated by an empty line; one that was cut off is not told."""
    topic, data, identity = "message", [], None  # type: str, list[str], str | None
    while raw := lines.readline(LONGEST_LINE):
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            if data:
                yield Event(topic, json.loads("\n".join(data)), identity)
            topic, data = "message", []
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            topic = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            identity = value
