"""Searches the constants of a formula by Optuna, in several processes, or on machines with a common file system.

    fit_optuna.py TEMPLATE FOLDER --site SITE --workload LOG --goals GOALS [--workers N] [--evaluations N]

What is minimised is what `jsf fit` minimises, on the same part of the log, and the best formula is judged as `jsf fit` judges its own,
on the part that was not searched. Each worker reads the log once. The trials are in FOLDER: a program that was killed goes on where it
was when it is started again, and a second one with `--no-judgement` on another machine takes part.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import time

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback
from optuna.trial import TrialState

from job_sort_formula import Site, Template

# a search finds the same formula with these many digits, and people can read it
DIGITS = 3
NAME = "fit"


def main():
    options = arguments()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    os.makedirs(options.folder, exist_ok=True)
    study = optuna.create_study(storage=storage(options), study_name=NAME, load_if_exists=True)
    asked = {name: value for name, value in vars(options).items() if name not in ("workers", "evaluations", "judgement")}
    if study.user_attrs.get("asked", asked) != asked:
        raise SystemExit(f"`{options.folder}` has the trials of another search: give another folder")
    study.set_user_attr("asked", asked)
    template = Template(options.template)
    if not study.get_trials(deepcopy=False):
        study.enqueue_trial({constant.name: constant.start for constant in template.constants})
    began = time.monotonic()
    before = len(complete(study))
    spawned = multiprocessing.get_context("spawn")
    workers = [spawned.Process(target=work, args=(options, number)) for number in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    trials = complete(study)
    if len(trials) < options.evaluations:
        raise SystemExit(f"the workers have ended after {len(trials)} formulas: start it again")
    print(f"{len(trials) - before} formulas by {options.workers} workers in {time.monotonic() - began:.1f} s, after {before} that were there")
    if options.judgement:
        judge(options, template, trials)


def work(options, number):
    """Evaluates formulas until there are enough."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    template = Template(options.template)
    objective = Site.open(options.site).objective(template, **on_log(options))

    def evaluated(trial):
        point = objective.evaluate([suggested(trial, constant) for constant in template.constants])
        trial.set_user_attr("point", point)
        # first the goals, then the objective
        trial.set_constraint("goals", point["missed"])
        return point["loss"]

    sampler = optuna.samplers.TPESampler(seed=options.seed * 1000 + number)
    study = optuna.load_study(storage=storage(options), study_name=NAME, sampler=sampler)
    enough = MaxTrialsCallback(options.evaluations, states=(TrialState.COMPLETE,))
    if len(complete(study)) < options.evaluations:
        study.optimize(evaluated, callbacks=[enough, end_with_program])


def end_with_program(study, _trial):
    """Ends a worker whose program was killed."""
    if not multiprocessing.parent_process().is_alive():
        study.stop()


def suggested(trial, constant):
    if constant.int:
        return trial.suggest_int(constant.name, int(constant.low), int(constant.high), log=constant.log)
    return float(f"{trial.suggest_float(constant.name, constant.low, constant.high, log=constant.log):.{DIGITS}g}")


def judge(options, template, trials):
    """Says what `jsf fit` says of the best formula."""
    points = [trial.user_attrs["point"] for trial in trials]
    best = min(points, key=lambda point: (point["missed"], point["loss"]))
    fit = Site.open(options.site).fit(template.starting_at(best["values"]), evaluations=1, **on_log(options))
    path = pathlib.Path(options.folder, "fit.json")
    path.write_text(json.dumps(fit, indent=1))
    print(f"{fit.formula}\n{fit.recommendation} ({fit.reason}), see {path}")
    for goal in fit.goals:
        print(f"{goal['name']}: {goal['held_out_current']['value']} in force, {goal['held_out']['value']} fitted, on what was not searched")
    if fit.objective:
        print(f"{fit.objective['name']}: {fit.objective['held_out']}")


def on_log(options):
    return {name: getattr(options, name) for name in ("goals", "workload", "processors", "held_out", "force")}


def complete(study):
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def storage(options):
    return JournalStorage(JournalFileBackend(os.path.join(options.folder, "trials.log")))


def arguments():
    path = os.path.abspath
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("template", help="the formula, with {NAME=START:LOW..HIGH} for each constant")
    parser.add_argument("folder", type=path, help="of the trials, and of the result, fit.json")
    parser.add_argument("--site", type=path, required=True, metavar="FOLDER")
    parser.add_argument("--workload", type=path, action="append", required=True, metavar="FILE")
    parser.add_argument("--goals", type=path, required=True, metavar="FILE")
    parser.add_argument("--processors", type=int, metavar="N")
    parser.add_argument("--held-out", type=float, default=0.33, metavar="F")
    parser.add_argument("--force", action="store_true", help="fit to a short log")
    parser.add_argument("--evaluations", type=int, default=240, metavar="N", help="formulas that are tried by all workers together")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--no-judgement", dest="judgement", action="store_false", help="only take part in the search")
    return parser.parse_args()


if __name__ == "__main__":
    main()
