"""The type of policies with parameters."""

from __future__ import annotations


class ParameterizedPolicy(str):
    """A policy with parameters, as written on the command line: ``warped-mc(threshold=4)``."""

    __slots__ = ()
