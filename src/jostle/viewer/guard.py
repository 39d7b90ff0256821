"""Who may talk to the page: pure checks on Host, Origin and token.

A web page anywhere may *send* requests to a port on this machine; it may not forge three headers. `Host` names the
address the browser thinks it talks to (a rebound DNS name shows up here), `Origin` names the page that asks, and the
cookie holds a token that only our own page was given. A socket opens only if all three are ours.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """True for names and addresses that only this machine can reach."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def split_host(header: str) -> str:
    """The name in a Host header, without port and brackets: `[::1]:8080` is `::1`."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


@dataclass(frozen=True)
class Guard:
    """The rules of one page. On loopback the page itself opens without a token; its sockets never do."""

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def local(self) -> bool:
        return is_loopback(self.host)

    def host_known(self, host_header: str) -> bool:
        """On loopback only our own names count, so that no rebound DNS name gets in; elsewhere the token decides."""
        name = split_host(host_header)
        return name in LOOPBACK_NAMES | {self.host.lower().strip("[]")} if self.local else bool(name)

    def token_known(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def refuse_page(self, host_header: str, given: str | None) -> str | None:
        """None where the page may be shown, otherwise the sentence that says why not."""
        if not self.host_known(host_header):
            return "This address is not one that the page was opened on."
        if not self.local and not self.token_known(given):
            return "This page needs the token that was printed when it started: open the whole address."
        return None

    def refuse_socket(self, host_header: str, origin: str | None, given: str | None) -> str | None:
        """None where a socket may open, otherwise the sentence that says why not."""
        if not self.host_known(host_header):
            return "This address is not one that the page was opened on."
        if not same_origin(origin, host_header):
            return "Another page asked for this connection; only the viewer's own page may."
        if not self.token_known(given):
            return "The token is missing or wrong; reload the page from the printed address."
        return None


def same_origin(origin: str | None, host_header: str) -> bool:
    """The asking page came from the very address it asks; a missing Origin is no browser of ours."""
    if not origin:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host_header.lower()


def given_token(query: Mapping[str, str], cookies: Mapping[str, str], cookie: str) -> str | None:
    """The token of a request: from its address first, from its cookie otherwise."""
    return query.get("token") or cookies.get(cookie)


@dataclass
class Allowance:
    """So many messages a second, with a burst of twice as many: a bucket that refills with time."""

    per_second: float
    left: float = field(init=False)
    last: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.left = 2.0 * self.per_second

    def spend(self, now: float) -> bool:
        """Take one; False where nothing is left at time `now` (seconds of any steady clock)."""
        if self.last is not None:
            self.left = min(2.0 * self.per_second, self.left + (now - self.last) * self.per_second)
        self.last = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True
