"""A gymnasium environment: an agent chooses the requests that the banks of a DRAM channel serve.

    from warpmem.gym import ChannelEnv

    env = ChannelEnv(trace, "h100")
    observation, info = env.reset()
    while True:
        action = env.action_space.sample(mask=env.action_masks())
        observation, reward, terminated, truncated, info = env.step(action)
        if terminated:
            break
    print(info["ipc_thread"])

Requires gymnasium: ``pip install 'warpmem[search]'``.
"""

from __future__ import annotations

import threading
from functools import partial
from queue import SimpleQueue
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

from ._arguments import MachineLike, TraceLike, machine_of
from ._run import run
from ._scheduler import DramScheduler
from ._warpmem import DEFAULT_MACHINE, Bank, Request

#: Values of a request in an observation: 1 if there is one, 1 for a row hit, DRAM cycles since its
#: arrival, requests of the bank to its row and of its warp, 1 for a load of a page walk.
FEATURES = ("waits", "hit", "age", "row_requests", "warp_requests", "walk")


class _Stop(Exception):
    """Ends the run of an episode that is not continued."""


class ChannelEnv(gymnasium.Env[np.ndarray, int]):
    """A run of a trace in which the agent picks for the banks of some channels.

    A step is one choice of a bank with two or more waiting requests. The observation has a row per
    waiting request, oldest first, with the values of ``FEATURES``; at most ``slots`` requests are
    shown. The action is the number of a row; beyond the waiting requests, the oldest is taken.
    ``action_masks()`` marks the waiting ones.

    The reward of ``"throughput"`` is minus the DRAM cycles since the last choice of the channel; of
    ``"latency"``, minus the sum of the waits of the channel's requests that were served since, in DRAM
    cycles. Both are in thousands. The episode ends with the run, whose metrics are then in ``info``.
    Without a choice of the agent FR-FCFS picks, as it does in other channels.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        trace: TraceLike,
        machine: MachineLike = DEFAULT_MACHINE,
        *,
        set: dict[str, Any] | None = None,
        channels: tuple[int, ...] = (0,),
        slots: int = 16,
        reward: Literal["throughput", "latency"] = "throughput",
        budget: int | None = None,
    ) -> None:
        if reward not in ("throughput", "latency"):
            raise ValueError(f"no reward `{reward}`; there are throughput and latency")
        self.trace = trace
        self.machine = machine_of(machine, set)
        if budget is not None:
            self.machine = self.machine.changed({"run.launch_instructions": budget})
        self.channels = channels
        self.reward = reward
        shape = (slots, len(FEATURES))
        self.observation_space = spaces.Box(0.0, np.inf, shape, np.float32)
        self.action_space: Any = spaces.Discrete(slots)
        self._run: _Running | None = None
        self._waiting = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        self._run = _Running(self)
        observation, _, terminated, info = self._next()
        if terminated:
            raise ValueError("the run has no choice between requests: the trace loads DRAM too little")
        return observation, info

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._run is None:
            raise RuntimeError("no episode is running: call reset")
        self._run.actions.put(int(action))
        observation, reward, terminated, info = self._next()
        if terminated:
            self._run = None
        return observation, reward, terminated, False, info

    def action_masks(self) -> np.ndarray:
        """Returns 1 for each action that is a waiting request, for ``action_space.sample(mask=…)``."""
        slots = int(self.action_space.n)
        return (np.arange(slots) < self._waiting).astype(np.int8)

    def close(self) -> None:
        """Ends the episode."""
        if self._run is not None:
            self._run.stop()
            self._run = None

    def _next(self) -> tuple[np.ndarray, float, bool, dict[str, Any]]:
        assert self._run is not None
        event = self._run.events.get()
        if isinstance(event, BaseException):
            self._run = None
            raise event
        if len(event) == 2:
            result, reward = event
            self._waiting = 0
            return self._observation([]), reward, True, dict(result.metrics)
        bank, reward, channel = event
        rows = _rows(bank)[: int(self.action_space.n)]
        self._waiting = len(rows)
        info = {"channel": channel, "bank": bank.bank, "now": bank.now}
        return self._observation(rows), reward, False, info

    def _observation(self, rows: list[list[float]]) -> np.ndarray:
        observation = np.zeros(self.observation_space.shape or (), np.float32)
        if rows:
            observation[: len(rows)] = rows
        return observation


def _rows(bank: Bank) -> list[list[float]]:
    """Returns the features of the requests of a bank."""
    rows: dict[int, int] = {}
    warps: dict[int | None, int] = {}
    for request in bank.requests:
        rows[request.row] = rows.get(request.row, 0) + 1
        warps[request.warp] = warps.get(request.warp, 0) + 1
    return [
        [
            1,
            bank.is_hit(request),
            bank.now - request.arrived,
            rows[request.row],
            warps[request.warp],
            request.walk,
        ]
        for request in bank.requests
    ]


class _Running:
    """A run in a thread of its own, which waits for an action at each choice."""

    def __init__(self, env: ChannelEnv) -> None:
        self.channels = env.channels
        self.reward = env.reward
        #: Schedulers of the agent's channels.
        self.asking: list[_Asking] = []
        #: A bank, a reward and a channel; a run and the last reward; or an exception.
        self.events: SimpleQueue[Any] = SimpleQueue()
        self.actions: SimpleQueue[int | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._simulate, args=(env,), daemon=True)
        self._thread.start()

    def _simulate(self, env: ChannelEnv) -> None:
        scheduler: Any = partial(_Asking, running=self)
        try:
            result = run(env.trace, env.machine, dram_scheduler=scheduler, progress=False)
        except _Stop:
            return
        except BaseException as error:
            self.events.put(error)
        else:
            left = sum(scheduler.take_reward(scheduler.seen) for scheduler in self.asking)
            self.events.put((result, left))

    def ask(self, bank: Bank, reward: float, channel: int) -> int:
        self.events.put((bank, reward, channel))
        action = self.actions.get()
        if action is None:
            raise _Stop
        return action

    def stop(self) -> None:
        self.actions.put(None)
        self._thread.join()


class _Asking(DramScheduler):
    """Asks the agent for its channels; the others are FR-FCFS."""

    name = "agent"

    def __init__(self, channel: int, running: _Running) -> None:
        super().__init__(channel)
        self.running = running
        self.asks = channel in running.channels
        if self.asks:
            running.asking.append(self)
        self.rewarded_at = 0
        self.waits = 0
        #: Cycle of the last column command.
        self.seen = 0
        # A bank is asked again whenever its requests change; the same choice is not a new step.
        self.answers: dict[int, tuple[tuple[int, ...], int | None, Request]] = {}

    def pick(self, bank: Bank) -> Request:
        if not self.asks or len(bank.requests) == 1:
            return bank.fr_fcfs()
        orders = tuple(request.order for request in bank.requests)
        known = self.answers.get(bank.bank)
        if known is not None and known[:2] == (orders, bank.open_row):
            return known[2]
        action = self.running.ask(bank, self.take_reward(bank.now), self.channel)
        picked = bank.requests[action] if action < len(bank.requests) else bank.oldest
        self.answers[bank.bank] = (orders, bank.open_row, picked)
        return picked

    def take_reward(self, now: int) -> float:
        """Returns the reward of the time since the last one."""
        amount = now - self.rewarded_at if self.running.reward == "throughput" else self.waits
        self.rewarded_at, self.waits = now, 0
        return -amount / 1000

    def on_column(self, request: Request, last: bool, now: int) -> None:
        self.seen = now
        if last:
            self.waits += now - request.arrived
