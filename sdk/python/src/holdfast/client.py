"""Hands in jobs and shows and steers what becomes of them."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload
from urllib.parse import quote, urlencode

from .errors import (
    JobFailedException,
    NotFoundException,
    RefusedException,
    ServerUnavailableException,
)
from .http import ApiKey, Backoff, Http, server_key, server_url
from .model import Artifact, Cancellation, Enqueued, Event, Job, JobState, JobStatus, new_id
from .sse import stream

MOST_AT_ONCE = 10_000
DOWNLOAD_TIMEOUT = 120.0

T = TypeVar("T")


class Holdfast:
    """A client of one server: that of HOLDFAST_SERVER_URL and HOLDFAST_SERVER_API_KEY unless given.

    ``api_key`` may be a function that has the key, so that it can be rotated: it is called for each
    request, and once more when the server has refused what it had.

    Each call is repeated through outages and restarts of the server for ``retry_for`` seconds.
    That is safe: jobs carry ids that the client chose, and the server answers a repeated
    request as it answered the first.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: ApiKey | None = None,
        *,
        retry_for: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._http = Http(server_url(url), server_key(api_key), context=tls)
        self._retry_for = retry_for

    @overload
    def enqueue(self, job: Job) -> Enqueued: ...

    @overload
    def enqueue(self, job: Sequence[Job]) -> list[Enqueued]: ...

    def enqueue(self, job: Job | Sequence[Job]) -> Enqueued | list[Enqueued]:
        """Returns once the job is durable. Up to 10,000 are taken at once, all or none."""
        if isinstance(job, Job):
            answer = self._call("POST", "/v1/jobs", job.to_json())
            return Enqueued(answer["id"], answer["duplicate"])
        if not job:
            return []
        if len(job) > MOST_AT_ONCE:
            raise ValueError(f"{len(job):,} jobs at once: enqueue {MOST_AT_ONCE:,} at most")
        answer = self._call("POST", "/v1/jobs", {"jobs": [one.to_json() for one in job]})
        return [Enqueued(one["id"], one["duplicate"]) for one in answer["jobs"]]

    def find(self, job_id: str) -> JobStatus | None:
        """The job, or None when there is none of this id."""
        try:
            return self.get(job_id)
        except NotFoundException:
            return None

    def get(self, job_id: str) -> JobStatus:
        """The job; NotFoundException when there is none of this id."""
        return JobStatus.of(self._call("GET", f"/v1/jobs/{quote(job_id, safe='')}"))

    def wait(self, job_id: str, timeout: float | None = None) -> JobStatus:
        """The job once it has ended, however that was; TimeoutError when it takes longer."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = 0.05
        while True:
            status = self.get(job_id)
            if status.state.terminal:
                return status
            left = pause if until is None else min(pause, until - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"job {job_id} is {status.state.value} after {timeout} s")
            time.sleep(left)
            pause = min(1.0, pause * 1.5)

    def result(self, job_id: str, timeout: float | None = None) -> Any:
        """What the job returned; JobFailedException when it did not succeed."""
        status = self.wait(job_id, timeout)
        if status.state is JobState.SUCCEEDED:
            return status.result
        code, message = "CANCELLED", str(status.raw.get("cancelReason"))
        if status.failure is not None:
            code, message = status.failure.code, status.failure.message
        raise JobFailedException(job_id, status.state.value, code, message)

    def cancel(
        self, job_id: str, reason: str | None = None, *, cascade: bool = False
    ) -> Cancellation:
        """A job that runs is asked to stop; one that has ended stays as it is."""
        body = {"reason": reason, "cascade": cascade}
        try:
            answer = self._call("POST", f"/v1/jobs/{quote(job_id, safe='')}/cancel", body)
        except RefusedException as refused:
            if refused.error != "job_already_terminal":
                raise
            return Cancellation(job_id, JobState(refused.fields["state"]), "ALREADY_TERMINAL")
        named = (one for one in answer["jobs"] if one["id"] == job_id.lower())
        one = next(named, answer["jobs"][0])
        return Cancellation(one["id"], JobState(one["previousState"]), one["outcome"])

    def retry(self, job_id: str) -> JobStatus:
        """Puts a FAILED or CANCELLED job back into its queue with a fresh budget."""
        self._call("POST", f"/v1/jobs/{quote(job_id, safe='')}/retry", None)
        return self.get(job_id)

    def signal(
        self, job_id: str, name: str, payload: Any = None, *, key: str | None = None
    ) -> bool:
        """Tells a job something, which stays in its mailbox until a wait takes it.

        Of two signals to a job with the same key only the first counts, and this is False for the
        other. Without a payload it is an empty object.
        """
        return self._signal(f"/v1/jobs/{quote(job_id, safe='')}/signals", {}, name, payload, key)

    def signal_by_key(
        self, kind: str, unique_key: str, name: str, payload: Any = None, *, key: str | None = None
    ) -> bool:
        """The same to the job of a kind that has this unique key."""
        to = {"kind": kind, "uniqueKey": unique_key}
        return self._signal("/v1/signals", to, name, payload, key)

    def _signal(
        self, path: str, to: dict[str, Any], name: str, payload: Any, key: str | None
    ) -> bool:
        # With a key of its own a call whose answer is lost is one signal.
        said = {"name": name, "key": new_id() if key is None else key}
        said["payload"] = {} if payload is None else payload
        return not self._call("POST", path, to | said)["duplicate"]

    def decide(self, job_id: str, wait_id: str, approved: bool, comment: str = "") -> None:
        """Answers what a job asks by ``approve``; ``jobs(waits="approval")`` finds those."""
        said: dict[str, Any] = {"waitId": wait_id, "approved": approved}
        if comment:
            said["comment"] = comment
        self._call("POST", f"/v1/jobs/{quote(job_id, safe='')}/decisions", said)

    def log(self, job_id: str) -> str:
        """The last 64 Ki characters or so that the job's attempts logged."""
        answer = self._call("GET", f"/v1/jobs/{quote(job_id, safe='')}/log")
        return "".join(part["text"] for part in answer["parts"])

    def timeline(self, job_id: str) -> list[dict[str, Any]]:
        answer = self._call("GET", f"/v1/jobs/{quote(job_id, safe='')}/timeline")
        return list(answer["events"])

    def artifacts(self, job_id: str) -> list[Artifact]:
        """The files that the job has published."""
        answer = self._call("GET", f"/v1/jobs/{quote(job_id, safe='')}/artifacts")
        return [Artifact(one["name"], one["size"], one["sha256"]) for one in answer["artifacts"]]

    def artifact(self, job_id: str, name: str) -> bytes:
        """The content of one of them."""
        path = f"/v1/jobs/{quote(job_id, safe='')}/artifacts/{quote(name, safe='')}"
        return self._insist(lambda: self._http.content("GET", path, None, DOWNLOAD_TIMEOUT))

    def jobs(self, **filters: str | int) -> Iterator[JobStatus]:
        """All jobs that the filters of ``GET /v1/jobs`` choose, newest first, page by page."""
        query = dict(filters)
        while True:
            page = self._call("GET", f"/v1/jobs?{urlencode(query)}")
            yield from map(JobStatus.of, page["jobs"])
            if "next" not in page:
                return
            query["cursor"] = page["next"]

    def events(self, topics: Iterable[str] = ()) -> Iterator[Event]:
        """The live stream, without end: it reconnects and goes on after the last event."""
        return stream(self._http, tuple(topics))

    def _call(self, method: str, path: str, body: object = None) -> Any:
        if method == "GET":
            return self._insist(lambda: self._http.get(path))
        return self._insist(lambda: self._http.post(path, {} if body is None else body))

    def _insist(self, call: Callable[[], T]) -> T:
        until = time.monotonic() + self._retry_for
        backoff = Backoff()
        while True:
            try:
                return call()
            except ServerUnavailableException as away:
                pause = backoff.pause(away)
                if away.status == 500 or time.monotonic() + pause > until:
                    raise
                time.sleep(pause)

    def close(self) -> None:
        self._http.abort()

    def __enter__(self) -> Holdfast:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
