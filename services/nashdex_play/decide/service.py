"""Decisions over HTTP: ``POST /decide``, ``GET /health`` and an OpenAPI document at ``/openapi.json``."""

import asyncio
import socket
from http import HTTPStatus
from typing import Annotated, Any, Final

import h11
import uvicorn
from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Discriminator, Field, Tag
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

import nashdex
from nashdex.core.documents import Model, describe
from nashdex.core.errors import NashdexError
from nashdex.core.stopping import stop_requested
from nashdex_play.decide.deciding import Adviser
from nashdex_play.decide.documents import Answer, Question, Refused, RefusedError

HEALTH: Final = "/health"
"""Answers however many requests are open: a busy service is healthy."""
_BODY: Final = ("body", "one", "batch")
"""Parts of a field's path that the request does not name."""
_UNREAD: Final = "the body cannot be read; expected JSON in Unicode, neither compressed nor nested deeply"
Questions = Annotated[
    Annotated[Question, Tag("one")] | Annotated[list[Question], Tag("batch")],
    Discriminator(lambda body: "batch" if isinstance(body, list) else "one"),
    Body(description="One question, or a list of them, which are decided as one batch."),
]


class Limits(Model):
    """What the service takes at most."""

    body_bytes: int = Field(8 << 20, ge=1024, le=1 << 30)
    batch: int = Field(64, ge=1, le=4096)
    """Questions of one request."""
    concurrent: int = Field(64, ge=1, le=4096)
    """Requests at once; further ones get 503."""
    seconds: float = Field(30.0, gt=0, le=3600)
    """For one request, from its first byte to its answer; also for its headers alone."""


class Health(Model):
    """What the service decides for."""

    status: str
    format: str
    version: str


class _Limited:
    """Refuses too large bodies, too slow requests, and more requests than fit."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._num_open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        most, num_bytes, has_begun = self._limits.body_bytes, 0, False

        async def counted() -> Message:
            nonlocal num_bytes
            message = await receive()
            num_bytes += len(message.get("body", b""))
            if num_bytes > most:
                why = f"the body has more than {most} bytes; send fewer battles at once"
                raise HTTPException(413, why, {"connection": "close"})
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        if self._num_open >= self._limits.concurrent:
            busy = _refusal(503, f"{self._num_open} requests are open, the most at once; try again", None)
            await busy(scope, receive, send)
            return
        self._num_open += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, counted, noted)
        except TimeoutError:
            if not has_begun:
                late = _refusal(408, f"no answer within {self._limits.seconds:g} s; try again", None)
                late.headers["connection"] = "close"  # more of the body may follow
                await late(scope, receive, send)
        finally:
            self._num_open -= 1


def service(adviser: Adviser, limits: Limits) -> FastAPI:
    """Return the service of ``adviser``, which must not be used elsewhere meanwhile."""
    app = FastAPI(
        title="nashdex decide",
        summary="A policy's decisions for Pokémon Showdown battles that run elsewhere.",
        version=nashdex.__version__,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(_Limited, limits=limits)
    turn = asyncio.Lock()
    refusals: dict[int | str, dict[str, Any]] = {code: {"model": Refused} for code in (400, 408, 413, 503)}
    refusals[422] = {"model": Refused | list[Refused], "description": "A list if the question was one."}

    @app.post("/decide", responses=refusals, response_model=Answer | list[Answer | Refused])
    async def decide(asked: Questions) -> JSONResponse:
        """Decide for one battle, or for several at once.

        A list gets a list in its order, in which a question without an answer has its error; if none has an answer,
        the status is 422.
        """
        questions = asked if isinstance(asked, list) else [asked]
        if not 0 < len(questions) <= limits.batch:
            return _refusal(422, f"a list has {len(questions)} questions; expected 1 to {limits.batch}", None)
        async with turn:
            answers = await run_sync(adviser.decide, questions)
        documents = [each.document if isinstance(each, RefusedError) else each for each in answers]
        is_refused = all(isinstance(each, Refused) for each in documents)
        content = [each.model_dump(mode="json") for each in documents]
        return JSONResponse(content if isinstance(asked, list) else content[0], 422 if is_refused else 200)

    @app.get(HEALTH)
    async def health() -> Health:
        """Say that the service answers, and for which format."""
        return Health(status="ok", format=adviser.format, version=nashdex.__version__)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = [{**each, "loc": _path(each["loc"])} for each in error.errors()]
        if problems[0]["type"] == "json_invalid":
            (at,) = problems[0]["loc"]
            return _refusal(422, f"the body is no JSON from character {at} on; expected a question", None)
        if isinstance(problems[0].get("input"), bytes):
            return _refusal(
                422, "the body is not sent as JSON; expected the header content-type: application/json", None
            )
        where = ".".join(str(part) for part in problems[0]["loc"])
        return _refusal(422, describe(problems), where or None)  # type: ignore[arg-type]

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        is_unread = error.status_code == HTTPStatus.BAD_REQUEST
        refusal = _refusal(error.status_code, _UNREAD if is_unread else str(error.detail), None)
        refusal.headers.update(error.headers or {})  # a 405 names the methods that are allowed
        return refusal

    @app.exception_handler(NashdexError)
    async def unavailable(_: Request, error: NashdexError) -> JSONResponse:
        return _refusal(503, str(error), None)

    return app


def _path(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    parts = list(loc)
    while parts and parts[0] in _BODY:
        parts.pop(0)
    return tuple(parts)


def _refusal(status: int, error: str, field: str | None) -> JSONResponse:
    """Return an error as JSON. Half a character, which a body may hold, becomes an escape."""
    document = Refused(error=_whole(error), field=None if field is None else _whole(field))
    return JSONResponse(document.model_dump(), status)


def _whole(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


_STOP_SECONDS: Final = 30
"""Longest wait for open requests when the process is asked to stop."""


def _protocol(seconds: float) -> type[H11Protocol]:
    """Return uvicorn's protocol, closing connections whose request has not all its headers after ``seconds``.

    uvicorn has a deadline for the first byte of a connection's next request alone.
    """

    class Punctual(H11Protocol):
        _closing: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
            super().connection_made(transport)
            self._closing = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop_closing()
            elif self._closing is None:
                self._closing = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop_closing()

        def _stop_closing(self) -> None:
            if self._closing is not None:
                self._closing.cancel()
            self._closing = None

    return Punctual


class _Server(uvicorn.Server):
    """A server that also ends by a signal that came before it had handlers of its own."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.should_exit |= stop_requested()


def listen(adviser: Adviser, limits: Limits, listener: socket.socket) -> None:
    """Answer requests until SIGTERM or Ctrl-C, then those that are open."""
    config = uvicorn.Config(
        service(adviser, limits),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        lifespan="off",
        http=_protocol(limits.seconds),
        h11_max_incomplete_event_size=1 << 16,
    )
    _Server(config).run(sockets=[listener])
