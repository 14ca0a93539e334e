"""Searches expressions for the DRAM scheduler `priority`, by evolution of small trees.

    python trees.py 'traces/*.wmt' --machine h100 --budget 60_000

Half of the workloads train; the best expressions are then scored on the other half.
"""

import argparse
import glob
import random

import warpmem

TERMS = [
    "hit", "age", "position", "row_requests", "bank_requests", "warp_requests", "sm_requests",
    "load_requests", "streak", "same_warp", "same_sm",
]  # fmt: skip
OPERATORS = ["+", "-", "*", "<", ">="]
NUMBERS = [1, 2, 4, 8, 16, 64]


def leaf(rng):
    return rng.choice(TERMS) if rng.random() < 0.7 else str(rng.choice(NUMBERS))


def tree(rng, depth):
    """Returns a random tree: a leaf, or an operator with its operands."""
    if depth == 0 or rng.random() < 0.2:
        return leaf(rng)
    if rng.random() < 0.15:
        return ("if", tree(rng, depth - 1), tree(rng, depth - 1), tree(rng, depth - 1))
    return (rng.choice(OPERATORS), tree(rng, depth - 1), tree(rng, depth - 1))


def text(node):
    match node:
        case str():
            return node
        case ("if", condition, yes, no):
            return f"if({text(condition)},{text(yes)},{text(no)})"
        case (operator, left, right):
            return f"({text(left)}{operator}{text(right)})"


def mutated(rng, node, depth):
    """Returns the tree with one random subtree replaced."""
    if isinstance(node, str) or rng.random() < 0.3:
        return tree(rng, min(depth, 2))
    at = rng.randrange(1, len(node))
    return (*node[:at], mutated(rng, node[at], depth - 1), *node[at + 1 :])


def subtree(rng, node):
    while isinstance(node, tuple) and rng.random() < 0.6:
        node = rng.choice(node[1:])
    return node


def crossed(rng, node, other):
    """Returns the tree with one random subtree replaced by one of another tree."""
    if isinstance(node, str) or rng.random() < 0.3:
        return subtree(rng, other)
    at = rng.randrange(1, len(node))
    return (*node[:at], crossed(rng, node[at], other), *node[at + 1 :])


def policy(node):
    return f"priority(by={text(node)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", help="traces or patterns")
    parser.add_argument("--machine", default="v100")
    parser.add_argument("--budget", type=int, default=60_000, help="warp instructions of a launch")
    parser.add_argument("--generations", type=int, default=10)
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    traces = sorted(file for pattern in options.traces for file in glob.glob(pattern))
    train, held_out = warpmem.split(traces, seed=options.seed)
    limits = warpmem.Limits(longest_wait=4)
    score = warpmem.Evaluator(
        train, options.machine, budget=options.budget, repeat=1, limits=limits
    )
    rng = random.Random(options.seed)
    value = lambda node: score(policy(node)).value

    population = ["hit", *(tree(rng, 3) for _ in range(options.population - 1))]
    for generation in range(options.generations):
        population.sort(key=value, reverse=True)
        best = population[0]
        print(f"{generation:3} {value(best):.4f} {text(best)}", flush=True)
        parents = population[: options.population // 2]
        children = []
        while len(parents) + len(children) < options.population:
            node = rng.choice(parents)
            if rng.random() < 0.5:
                child = mutated(rng, node, 3)
            else:
                child = crossed(rng, node, rng.choice(parents))
            if len(text(child)) <= 80 and child not in parents + children:
                children.append(child)
        population = parents + children
    population.sort(key=value, reverse=True)

    judge = warpmem.Evaluator(held_out, options.machine, budget=4 * options.budget, limits=limits)
    print(f"on {len(held_out)} traces held out, over fr-fcfs:")
    for node in population[:3]:
        print(judge(policy(node)))


if __name__ == "__main__":
    main()
