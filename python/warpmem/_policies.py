"""The constructor of policies with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._parameterized import ParameterizedPolicy

if TYPE_CHECKING:
    from ._names import PolicyName


def policy(name: PolicyName, **parameters: Any) -> ParameterizedPolicy:
    """Returns a policy with parameters, for any slot: ``warpmem.policy("fr-fcfs", row_hit_cap=4)``.

    ``warpmem.policies()`` lists the parameters of each policy. A run checks them.
    """
    given = ",".join(f"{key}={_text(value)}" for key, value in parameters.items())
    return ParameterizedPolicy(f"{name}({given})" if given else name)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
