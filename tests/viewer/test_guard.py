"""Who may talk to the page."""

import pytest

from jostle.viewer.guard import Allowance, Guard, is_loopback, same_origin, split_host

TOKEN = "t0ken"
LOCAL = Guard("127.0.0.1", TOKEN)
OPEN = Guard("0.0.0.0", TOKEN)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "LOCALHOST"])
def test_loopback_is_known(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.com", "localhost.evil.com", ""])
def test_what_others_can_reach_is_no_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("header", "name"),
    [("localhost:8080", "localhost"), ("[::1]:80", "::1"), ("A.B", "a.b"), ("[", ""), ("", "")],
)
def test_host_header_is_split(header, name):
    assert split_host(header) == name


def test_local_page_opens_without_token_and_under_its_own_names_only():
    assert LOCAL.refuse_page("127.0.0.1:8080", None) is None
    assert LOCAL.refuse_page("localhost:8080", None) is None
    assert "not one that" in LOCAL.refuse_page("rebound.example:8080", TOKEN)


def test_page_for_others_needs_the_token():
    assert OPEN.refuse_page("192.168.1.4:8080", TOKEN) is None
    for wrong in (None, "", "t0kem", "t0ken ", "töken"):
        assert "token" in OPEN.refuse_page("192.168.1.4:8080", wrong)


@pytest.mark.parametrize("guard", [LOCAL, OPEN])
def test_sockets_need_origin_and_token(guard):
    host, origin = "127.0.0.1:8080", "http://127.0.0.1:8080"
    assert guard.refuse_socket(host, origin, TOKEN) is None
    assert "Another page" in guard.refuse_socket(host, "http://evil.example", TOKEN)
    assert "Another page" in guard.refuse_socket(host, "http://127.0.0.1:8081", TOKEN)
    assert "Another page" in guard.refuse_socket(host, None, TOKEN)
    assert "token" in guard.refuse_socket(host, origin, None)
    assert "token" in guard.refuse_socket(host, origin, "other")


@pytest.mark.parametrize("origin", ["null", "file://", "http://[", "ftp://h:1", "h:1"])
def test_strange_origins_are_foreign(origin):
    assert not same_origin(origin, "h:1")


def test_tokens_differ():
    assert Guard("localhost").token != Guard("localhost").token


def test_allowance_permits_a_burst_and_then_the_rate():
    allowance = Allowance(10.0)
    assert [allowance.spend(0.0) for _ in range(21)] == [True] * 20 + [False]
    assert allowance.spend(0.1)
    assert not allowance.spend(0.1)
    assert sum(allowance.spend(100.0) for _ in range(50)) == 20
