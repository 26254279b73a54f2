# SPDX-License-Identifier: Apache-2.0
"""Prints the shell steps of a job out of docs/ci/, for bash, as a runner would give them to it.

Usage: ci_steps.py github|gitlab FILE. Steps that install packages or build the user's project are left out.
"""
import sys

import yaml

LEFT_OUT = ("Install what ptxrun needs", "Build the tests")


def github(text):
    job = text["jobs"]["test"]
    assert job["needs"] in text["jobs"]
    for step in job["steps"]:
        if "run" not in step:
            assert "uses" in step
        elif step["name"] not in LEFT_OUT:
            yield step["run"]


def gitlab(text):
    assert text["test"]["needs"][0] in text
    yield from text["test"]["script"]


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        text = yaml.safe_load(file)
    for step in {"github": github, "gitlab": gitlab}[sys.argv[1]](text):
        print(step)


main()
