"""Episodes: recorded play of CartPole by policies of several skills, for ``regard train act``.

    python benchmarks/episodes.py --to cartpole.npz

Needs gymnasium. A pole stands on a cart, the cart is pushed left (0) or right (1), each step in
which the pole still stands gives a reward of 1, at 500 the episode ends. Who plays was made by us,
nobody learned it: the policies of ``POLICIES``, each for about equally many steps. In which order
they play, and their chances, follow from the seed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

ENVIRONMENT = "CartPole-v1"
COLUMNS = ("position", "velocity", "angle", "spin")


class Policy(NamedTuple):
    """Push to the side on which ``weights`` · state is positive, or by chance."""

    name: str
    weights: tuple[float, float, float, float]
    chance: float
    """The share of pushes that are by chance."""


POLICIES = (
    Policy("away from where it leans", (0, 0, -1, 0), 0.2),
    Policy("by chance", (0, 0, 1, 0), 1.0),
    Policy("to where it leans", (0, 0, 1, 0), 0.2),
    Policy("to where it leans and turns, half by chance", (0, 0, 1, 0.5), 0.5),
    Policy("to where it leans and turns, a fifth by chance", (0, 0, 1, 0.5), 0.2),
)


class Rows(NamedTuple):
    """What one episode gives to the file."""

    state: NDArray[np.float64]
    action: NDArray[np.int64]
    reward: NDArray[np.float64]


def play(policy: Policy, seed: int) -> Rows:
    """One episode."""
    environment = gymnasium.make(ENVIRONMENT)
    chance = np.random.default_rng(seed)
    state, _ = environment.reset(seed=seed)
    states, actions, rewards = [], [], []
    while True:
        pushed = int(np.dot(policy.weights, state) > 0)
        action = int(chance.integers(2)) if chance.random() < policy.chance else pushed
        states.append(state.astype(np.float64))
        state, reward, ended, cut, _ = environment.step(action)
        actions.append(action)
        rewards.append(float(reward))
        if ended or cut:
            return Rows(np.array(states), np.array(actions), np.array(rewards))


def recorded(steps: int, seed: int) -> list[tuple[Policy, Rows]]:
    """Episodes of every policy until each has so many steps, then mixed."""
    found: list[tuple[Policy, Rows]] = []
    for number, policy in enumerate(POLICIES):
        done = 0
        while done < steps:
            found.append((policy, play(policy, 1_000_000 * seed + 100_000 * number + done)))
            done += len(found[-1][1].action)
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[i] for i in order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", required=True, type=Path)
    parser.add_argument("--steps", type=int, default=8000, help="Of each policy, at least.")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = recorded(given.steps, given.seed)
    for policy in POLICIES:
        returns = [rows.reward.sum() for who, rows in found if who is policy]
        print(f"{policy.name:<48} {len(returns):5} episodes, mean return {np.mean(returns):6.1f}")
    lengths = [len(rows.action) for _, rows in found]
    np.savez_compressed(
        given.to,
        episode=np.repeat(np.arange(len(found)), lengths),
        step=np.concatenate([np.arange(n) for n in lengths]),
        state=np.concatenate([rows.state for _, rows in found]),
        action=np.concatenate([rows.action for _, rows in found]),
        reward=np.concatenate([rows.reward for _, rows in found]),
        names=np.array(COLUMNS),
    )
    print(f"{given.to}: {len(found):,} episodes, {sum(lengths):,} steps")


if __name__ == "__main__":
    main()
