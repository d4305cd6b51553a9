"""Threads for plain handlers and an event loop for async ones."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any


class HandlerThreads:
    """Starts a thread when none is idle; threads are used again, and never block the exit."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._made = 0

    def submit(self, work: Callable[[], None], most: int) -> None:
        """``most`` is how many threads may be at work, those that were given up not counted."""
        with self._lock:
            start = self._idle < self._work.qsize() + 1 and self._made < most
            if start:
                self._made += 1
                name = f"holdfast-handler-{self._made}"
        if start:
            threading.Thread(target=self._loop, name=name, daemon=True).start()
        self._work.put(work)

    def _loop(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            work = self._work.get()
            with self._lock:
                self._idle -= 1
            work()


class EventLoop:
    """One event loop in a thread of its own, started with the first async job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, works: Sequence[Coroutine[Any, Any, None]]) -> None:
        """One wake-up for the whole batch."""
        self._started().call_soon_threadsafe(self._begin, works)

    def _begin(self, works: Sequence[Coroutine[Any, Any, None]]) -> None:
        loop = asyncio.get_running_loop()
        for work in works:
            task = loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._run, name="holdfast-async", daemon=True).start()
            return self._loop

    def _run(self) -> None:
        assert self._loop is not None
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
