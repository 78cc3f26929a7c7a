"""Experiments: sweeps as in the thesis, as data, plots and a verdict for each figure.

A new one is a module here with an ``EXPERIMENT``, and a line in `MODULES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workloads.experiments.experiment import Experiment

__all__ = ["MODULES", "experiment_named"]

#: The name of each experiment, and its module.
MODULES: Final = {
    "structures": "workloads.experiments.structures",
    "double-forest": "workloads.experiments.double_forest",
    "preloading": "workloads.experiments.preloading",
    "one-shot-merging": "workloads.experiments.one_shot_merging",
    "dynamic-merging": "workloads.experiments.dynamic_merging",
    "mobility": "workloads.experiments.mobility",
}


def experiment_named(name: str) -> Experiment:
    """Return an experiment; its module is imported when it is asked for."""
    found: Experiment = import_module(MODULES[name]).EXPERIMENT
    return found
