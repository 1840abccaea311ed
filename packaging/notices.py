#!/usr/bin/env python3
"""Writes the licences of what the released files contain besides this project's own code.

Enters: the folder of the sources, whose crates are on this machine. Leaves, on standard output: the notices of this project's
own sources, a table of the crates that are in the command, in the module of its pages or in the Python package, and the texts of
their licences, each text once. Fails if a crate comes without one.
"""

import json
import os
import subprocess
import sys

LINUX = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
# what is released, its package, and how it is built
PRODUCTS = [
    ("command", "jsf", [], LINUX),
    ("page", "job-sort-formula-wasm", [], ["wasm32-unknown-unknown"]),
    ("Python package", "job-sort-formula-python", [], LINUX),
]


def cargo(source, *arguments):
    command = ["cargo", *arguments, "--offline", "--locked"]
    return subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, text=True).stdout


def contained(source):
    """The crates that are compiled into each product, without what only runs while it is built."""
    products = {}
    for product, package, features, targets in PRODUCTS:
        for target in targets:
            tree = ["tree", "--package", package, *features, "--target", target, "--edges", "normal,no-proc-macro"]
            for line in set(cargo(source, *tree, "--prefix", "none", "--format", "{p}").splitlines()):
                name, version = line.split()[:2]
                products.setdefault((name, version.removeprefix("v")), {})[product] = True
    return products


def texts(package):
    """The texts that come with a crate: where it offers MIT among others, that one and what must be kept beside it."""
    folder = os.path.dirname(package["manifest_path"])
    starts = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
    files = sorted(name for name in os.listdir(folder) if name.upper().startswith(starts))
    mit = [name for name in files if "MIT" in name.upper()]
    if mit and "AND" not in package["license"].split():
        files = mit + [name for name in files if name.upper().startswith(("NOTICE", "COPYRIGHT"))]
    if not files:
        sys.exit(f"{package['name']} {package['version']} ({package['license']}) comes without the text of its licence")
    for name in files:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield file.read().strip()


def main():
    source = sys.argv[1]
    with open(os.path.join(source, "docs/notices.md"), encoding="utf-8") as file:
        print(file.read().strip())
    print("\n\n# Crates\n\n| crate | version | licence | in |\n|---|---|---|---|")
    packages = json.loads(cargo(source, "metadata", "--format-version", "1"))["packages"]
    packages = {(package["name"], package["version"]): package for package in packages}
    owners = {}
    for key, products in sorted(contained(source).items()):
        package = packages[key]
        if package["source"] is None:
            continue
        print(f"| {package['name']} | {package['version']} | {package['license']} | {', '.join(products)} |")
        for text in texts(package):
            owners.setdefault(text, []).append(package["name"])
    print(
        "\nThe Rust standard library is in each of them too (MIT OR Apache-2.0), and in the command and the Python package\n"
        "LLVM's libunwind, which Zig links (Apache-2.0 WITH LLVM-exception)."
    )
    for text, crates in owners.items():
        print(f"\n\n# {', '.join(dict.fromkeys(crates))}\n\n{text}")


if __name__ == "__main__":
    main()
