"""Leases attempts for as long as there is room for them, and waits by long poll for more."""

from __future__ import annotations

import logging
import threading
import time

from .attempt import Attempt
from .engine import Engine
from .errors import HoldfastException, KeyRefusedException, ServerUnavailableException
from .http import Backoff, Http
from .leases import LeaseSource

log = logging.getLogger("holdfast")

LEASE_TIMEOUT = 5.0


class Poller:
    """One thread and one connection. With several queues it asks them in turn."""

    def __init__(
        self,
        http: Http,
        source: LeaseSource,
        engine: Engine,
        queues: tuple[str, ...],
        poll: float,
    ) -> None:
        self._http = http
        self._source = source
        self._engine = engine
        self._queues = list(queues)
        self._poll = poll
        self._stopping = threading.Event()
        self._waiting = False
        self._answer_lost = False
        self._away = False
        self._thread = threading.Thread(target=self._loop, name="holdfast-lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the long poll, and releases the tasks that the server leased to it meanwhile."""
        self._stopping.set()
        # A lease that is under way ends by itself: its tasks could not be released.
        hung = time.monotonic() + LEASE_TIMEOUT
        while self._thread.is_alive():
            if self._waiting or time.monotonic() > hung:
                self._http.abort()
            self._thread.join(0.1)
        try:
            self._give_back_unknown()
        except HoldfastException as failure:
            log.warning("leases that were lost on the way will run out: %s", failure)

    def _loop(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                if self._answer_lost:
                    self._give_back_unknown()
                self._round()
                backoff.reset()
                if self._away:
                    self._away = False
                    log.info("%s answers again", self._http.url)
            except Exception as failure:
                if self._stopping.is_set():
                    return
                self._tell(failure)
                self._stopping.wait(backoff.pause(failure))

    def _tell(self, failure: Exception) -> None:
        if isinstance(failure, KeyRefusedException):
            log.error("the server refuses this worker: %s", failure)
        elif not isinstance(failure, HoldfastException):
            log.exception("leasing failed")
        elif not self._away:
            self._away = True
            log.warning("no jobs are leased until the server answers: %s", failure)

    def _round(self) -> None:
        room = self._engine.free(0.5)
        if room == 0:
            return
        pause = self._poll
        for queue in list(self._queues):
            attempts, due = self._lease(queue, room)
            if attempts:
                self._queues.remove(queue)  # the others come first next time
                self._queues.append(queue)
                self._engine.run(attempts)
                return
            if due is not None:
                pause = min(pause, max(0.01, due))
        # Nothing announces jobs that come due or no longer wait for others: they are polled for.
        self._waiting = True
        try:
            self._source.wait(self._http, self._queues, pause)
        finally:
            self._waiting = False

    def _lease(self, queue: str, room: int) -> tuple[list[Attempt], float | None]:
        try:
            return self._source.lease(self._http, queue, room)
        except ServerUnavailableException as away:
            self._answer_lost = self._answer_lost or away.status == 0
            raise

    def _give_back_unknown(self) -> None:
        """Leases whose answer was lost on the way would only come back when they run out."""
        lost = [lease for lease in self._source.held() if not self._engine.keeper.knows(lease)]
        if lost:
            self._source.release(lost)
            log.info("%d leases whose response was lost were released", len(lost))
        self._answer_lost = False
