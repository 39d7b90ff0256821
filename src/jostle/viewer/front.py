"""The front door: viser's page in our clothes, its socket passed through, and a socket of our own for held keys.

    browser ── http, ws ──> front (the address that is printed; Host, Origin and token are checked)
                              └─ ws ──> viser (a random loopback port that answers only to a secret Origin)

viser itself accepts any Origin, so it must not be reachable: it listens on loopback, and `secret_viser` makes its
handshake demand an Origin of random letters. A browser sets Origin itself and cannot be made to send that one, so no
page can talk to viser except through this door. Messages are capped in size and rate, and sifted by shape on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jostle.viewer import messages
from jostle.viewer.guard import Allowance, Guard, given_token
from jostle.viewer.handles import Request, Response, Starlette, ViserServer, WebSocket
from jostle.viewer.messages import Held

MAX_SOCKETS = 32
PAGE_RATE, INPUT_RATE = 300.0, 120.0  # messages a second that a page may send on each socket
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
REFUSED, CROWDED = 1008, 1013  # close codes: policy violation, try again later


@dataclass(frozen=True)
class Upstream:
    """Where viser listens, and the Origin that it answers to."""

    uri: str
    origin: str


def secret_viser() -> tuple[ViserServer, Upstream]:
    """A viser server that only the holder of the returned Origin can talk to."""
    import viser

    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # a refused handshake is no news
    origin = f"http://{secrets.token_hex(16)}.invalid"
    with _answering_only(origin), quietly():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    _forget_sharing(server)
    server.get_event_loop().call_soon_threadsafe(server.get_event_loop().set_exception_handler, _one_line)
    return server, Upstream(f"ws://127.0.0.1:{server.get_port()}", origin)


@contextlib.contextmanager
def _answering_only(origin: str) -> Iterator[None]:
    """While viser starts, its call of `websockets.serve` is given our list of origins."""
    import websockets.asyncio.server as module

    plain = module.serve

    def guarded(*args: Any, **options: Any) -> Any:
        return plain(*args, **{**options, "origins": [origin]})

    module.serve = guarded  # type: ignore[assignment]
    try:
        yield
    finally:
        module.serve = plain


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without viser's banner: its address is not for anyone."""
    import rich

    loud = rich.print
    rich.print = lambda *_, **__: None
    try:
        yield
    finally:
        rich.print = loud


def _forget_sharing(server: ViserServer) -> None:
    """viser can open a public tunnel when a page asks for it; here nothing may."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


def _one_line(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logging.getLogger("jostle.viewer").warning(
        "The page sent something that could not be used: %s", context.get("exception")
    )


def build_front(guard: Guard, page: bytes, upstream: Upstream, on_held: Callable[[int, Held], None]) -> Starlette:
    """The application; `on_held(client, held)` hears of every change, and of a last empty one when a page leaves."""
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, PlainTextResponse
    from starlette.routing import Route, WebSocketRoute

    sockets: set[WebSocket] = set()

    async def show(request: Request) -> Response:
        cookie = _cookie_name(request.headers.get("host", ""))
        given = given_token(request.query_params, request.cookies, cookie)
        problem = guard.refuse_page(request.headers.get("host", ""), given)
        if problem:
            return PlainTextResponse(problem, 403, headers=_HEADERS)
        response = HTMLResponse(page, headers=_HEADERS)
        response.set_cookie(cookie, guard.token, httponly=True, samesite="strict")
        return response

    async def guarded(socket: WebSocket, serve: Callable[[WebSocket], Any]) -> None:
        host = socket.headers.get("host", "")
        given = given_token(socket.query_params, socket.cookies, _cookie_name(host))
        problem = guard.refuse_socket(host, socket.headers.get("origin"), given)
        if problem or len(sockets) >= MAX_SOCKETS:
            await socket.close(REFUSED if problem else CROWDED, problem or "Too many pages are open.")
            return
        sockets.add(socket)
        try:
            await serve(socket)
        finally:
            sockets.discard(socket)

    async def scene(socket: WebSocket) -> None:
        await guarded(socket, lambda s: pass_through(s, upstream))

    async def held(socket: WebSocket) -> None:
        await guarded(socket, lambda s: listen(s, on_held))

    routes = [Route("/", show), WebSocketRoute("/", scene), WebSocketRoute("/input", held)]
    return Starlette(routes=routes)


def _cookie_name(host_header: str) -> str:
    """Cookies are shared between the ports of a host, so each port has its own."""
    return (
        f"jostle-{host_header.rpartition(':')[2] or 'page'}" if host_header.rpartition(":")[2].isdigit() else "jostle"
    )


async def listen(socket: WebSocket, on_held: Callable[[int, Held], None]) -> None:
    """The input channel: every message a whole state, so a lost one does no harm."""
    from starlette.websockets import WebSocketDisconnect

    await socket.accept()
    client, allowance = id(socket), Allowance(INPUT_RATE)
    try:
        while True:
            message = await socket.receive()
            if message["type"] != "websocket.receive":
                return
            held = messages.read_held(message.get("text") or "")
            if held is None or not allowance.spend(time.monotonic()):
                await socket.close(REFUSED, "Held keys are sent as a short JSON object, a few times a second.")
                return
            on_held(client, held)
    except WebSocketDisconnect:
        return
    finally:
        on_held(client, Held())


async def pass_through(socket: WebSocket, upstream: Upstream) -> None:
    """Both directions until either side closes."""
    from websockets.exceptions import WebSocketException

    protocols = [p for p in socket.scope.get("subprotocols", []) if p.startswith("viser-v")][:1]
    try:
        async with _reaching(upstream, protocols) as inner:
            await socket.accept(subprotocol=inner.subprotocol)
            await _first_of(_outwards(inner, socket), _inwards(socket, inner))
    except (WebSocketException, OSError):
        with contextlib.suppress(RuntimeError):
            await socket.close(CROWDED, "The scene behind this page has ended.")


@contextlib.asynccontextmanager
async def _reaching(upstream: Upstream, protocols: list[str]) -> AsyncIterator[Any]:
    """A connection to the scene that is closed in the end: politely, or at once where there is no time for that."""
    from websockets.asyncio.client import connect

    inner = await connect(
        upstream.uri,
        origin=upstream.origin,  # type: ignore[arg-type]
        subprotocols=protocols or None,  # type: ignore[arg-type]
        compression=None,
        max_size=None,
        proxy=None,
    )
    try:
        yield inner
    finally:
        # A server that stops cancels whoever still waits for the scene's farewell. Nothing comes after it, so to be
        # cancelled here is to be done; but the socket must be closed while its loop still runs.
        with contextlib.suppress(asyncio.CancelledError):
            await inner.close()
        inner.transport.abort()


async def _first_of(*parts: Any) -> None:
    """Run side by side until one ends, then stop the others."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _outwards(inner: Any, socket: WebSocket) -> None:
    async for raw in inner:
        await socket.send_bytes(raw)


async def _inwards(socket: WebSocket, inner: Any) -> None:
    allowance = Allowance(PAGE_RATE)
    while True:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            return
        raw = message.get("bytes")
        verdict = messages.sift(raw) if raw is not None else messages.REFUSE
        if verdict == messages.REFUSE or not allowance.spend(time.monotonic()):
            await socket.close(REFUSED, "That is no message of this page, or there were too many of them.")
            return
        if verdict == messages.PASS:
            await inner.send(raw)
