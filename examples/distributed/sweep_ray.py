"""Spreads a sweep over processes, or machines with a common file system, by Ray.

    sweep_ray.py FORMULA FOLDER --param a=1:10:100 --param b=0:1:100 --workload LOG --processors 64 [--workers N]

A worker that dies is started again by Ray, with the part at which it was; after anything else,
start this program again.
"""

import argparse
import os
import time

import ray
from ray.util import ActorPool

import sweep


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sweep.arguments(parser)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--address", help="of a cluster of Ray; without it the processes are on this machine")
    options = parser.parse_args()
    asked = sweep.from_arguments(options)
    missing = asked.begin()
    if missing:
        run(asked, missing, options)
    print(f"{len(asked.combinations())} runs in {asked.finish()}")


def run(asked, missing, options):
    local = {} if options.address else {"num_cpus": options.workers, "include_dashboard": False}
    ray.init(address=options.address or "local", log_to_driver=False, logging_level="warning", **local)
    began = time.monotonic()
    # a task that was interrupted, or whose worker died, is started again
    remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(sweep.Runner)
    pool = ActorPool([remote.remote(asked) for _ in range(options.workers)])
    ended = sum(pool.map_unordered(lambda worker, part: worker.write_part.remote(part), missing))
    print(f"{ended} runs by {options.workers} workers in {time.monotonic() - began:.1f} s, after {len(asked.parts()) - len(missing)} parts that were there")
    ray.shutdown()


if __name__ == "__main__":
    main()
