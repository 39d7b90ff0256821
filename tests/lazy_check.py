"""beartype, compiled when a function is first called: most of what a test run imports it never calls."""

import functools

from beartype import beartype


def checked(function):
    compiled = None

    @functools.wraps(function)
    def first_compile(*args, **kwargs):
        nonlocal compiled
        if compiled is None:
            compiled = beartype(function)
        return compiled(*args, **kwargs)

    return first_compile
