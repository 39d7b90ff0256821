"""Everything that runs behind one page: viser, the front before it, and the thread that the front lives in."""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jostle.errors import JostleError
from jostle.viewer.front import build_front, quietly, secret_viser
from jostle.viewer.guard import Guard
from jostle.viewer.handles import ViserServer
from jostle.viewer.messages import MAX_PAGE_BYTES, Held
from jostle.viewer.page import live_page

RATE = 60.0  # updates a second
PORTS_TRIED = 20  # from the wished-for port upwards, before any free one is taken


@dataclass
class Stage:
    """A running page. `server` is viser's; `url` is what a person opens."""

    server: ViserServer
    url: str
    port: int
    guard: Guard
    _front: Any
    _thread: threading.Thread

    def close(self) -> None:
        """Stop serving; pages that are open say so."""
        self._front.should_exit = True
        self._front.force_exit = True
        self._thread.join(timeout=5.0)
        with quietly():
            self.server.stop()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_stage(
    title: str,
    host: str = "127.0.0.1",
    port: int = 8080,
    on_held: Callable[[int, Held], None] | None = None,
) -> Stage:
    """Start viser and the front before it. Where `port` is taken the next free one serves: read it from the stage."""
    import uvicorn

    listening = _bind(host, port)
    taken = listening.getsockname()[1]
    guard = Guard(host)
    server, upstream = secret_viser()
    app = build_front(guard, live_page(title, steer=on_held is not None), upstream, on_held or (lambda *_: None))
    config = uvicorn.Config(
        app, ws="websockets-sansio", ws_max_size=MAX_PAGE_BYTES, ws_per_message_deflate=False, log_config=None,
        access_log=False, lifespan="off", server_header=False, proxy_headers=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    front = uvicorn.Server(config)
    thread = threading.Thread(target=front.run, kwargs={"sockets": [listening]}, name="jostle-front", daemon=True)
    thread.start()
    while not front.started and thread.is_alive():
        time.sleep(0.005)
    return Stage(server, _address(guard, taken), taken, guard, front, thread)


def _address(guard: Guard, port: int) -> str:
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(guard.host, guard.host)
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + ("" if guard.local else f"?token={guard.token}")


def _bind(host: str, port: int) -> socket.socket:
    """A listening socket on `port`, or on the next free one; port 0 takes any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [0] if port == 0 else [*range(port, min(port + PORTS_TRIED, 65536)), 0]
    problem: OSError | None = None
    for candidate in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host.strip("[]"), candidate))
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            problem = error if isinstance(error, OSError) else OSError(str(error))
    raise JostleError(f"The viewer cannot listen on {host}, port {port} ({problem}); name another --host or --port.")


def run_until_interrupted(page: Any, open_browser: bool, announce: Callable[[str], object]) -> None:
    """Tell the address, open it if asked, run, and close in the end whatever happens."""
    announce(page.stage.url)
    if open_browser:
        webbrowser.open(page.stage.url)
    try:
        page.run()
    except KeyboardInterrupt:
        pass
    finally:
        page.close()
