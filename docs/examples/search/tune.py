"""Tunes the limits of FR-FCFS with Optuna.

    pip install 'warpmem[search]'
    python tune.py 'traces/*.wmt' --machine h100 --trials 40

Half of the workloads train; the best values are then scored on the other half.
"""

import argparse
import glob

import optuna
import warpmem


def policy(parameters):
    given = ",".join(f"{name}={value}" for name, value in parameters.items())
    return f"fr-fcfs({given})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", help="traces or patterns")
    parser.add_argument("--machine", default="v100")
    parser.add_argument("--budget", type=int, default=60_000, help="warp instructions of a launch")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    traces = sorted(file for pattern in options.traces for file in glob.glob(pattern))
    train, held_out = warpmem.split(traces, seed=options.seed)
    score = warpmem.Evaluator(train, options.machine, budget=options.budget, repeat=1)

    def objective(trial):
        trial.suggest_int("row_hit_cap", 1, 256, log=True)
        trial.suggest_int("starvation_limit", 100, 20_000, log=True)
        return score(policy(trial.params)).value

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=options.seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=options.trials)
    best = policy(study.best_params)
    print(f"best of {options.trials}: {best}, {study.best_value:.4f} of fr-fcfs in training")

    judge = warpmem.Evaluator(held_out, options.machine, budget=4 * options.budget)
    print(f"on {len(held_out)} traces held out, over fr-fcfs: {judge(best)}")


if __name__ == "__main__":
    main()
