"""Proposes points and learns from what became of them: Optuna's tree-structured Parzen estimator.

What it is: the only module that knows Optuna, which is an extra (``penstock[tune]``) and imported
when a sampler is made. What it is not: it runs nothing and keeps nothing on disk. Invariant: what
is proposed follows from the fields, the seed and the order of the calls alone.

The estimator is that of J. Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NIPS
2011. It models the fields together, so that it learns which values do not go together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from penstock.errors import refuse
from penstock.sweep.axis import Value
from penstock.tune.field import Field

if TYPE_CHECKING:
    import optuna

FIRST = 10
"""Points that are drawn by chance before anything is learnt (Optuna's default)."""

TOP_SHARE, TOP_LEAST = 0.1, 5
"""Share of the trials that importance calls the best (the default of PED-ANOVA), and how many they
are at least (what Optuna's documentation of the evaluator asks for)."""

LIBRARIES = ("optuna", "numpy", "scipy")
"""Distributions whose version decides what is proposed."""


def load_optuna() -> Any:
    """The module of Optuna, which says nothing on its own from then on.

    Raises
    ------
    ScenarioError
        It is not installed.
    """
    try:
        import optuna
    except ImportError:
        remedy = "install it with: pip install 'penstock[tune]'"
        raise refuse("tune", "the search needs Optuna, which is not installed", remedy) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def versions() -> dict[str, str]:
    """The versions of what decides about the points."""
    return {name: version(name) for name in LIBRARIES}


@dataclass(frozen=True)
class Proposal:
    """A point that was proposed and that the sampler waits to hear of."""

    values: tuple[Value, ...]
    """One of each field."""
    asked: optuna.Trial


class Sampler:
    """Proposes points for some fields.

    Parameters
    ----------
    seed
        Of every draw.
    starts_here
        Whether the first proposal is the scenario as it is, where its own values are among those
        that the fields may have.
    """

    def __init__(
        self, fields: Sequence[Field], *, is_minimized: bool, seed: int, starts_here: bool = True
    ) -> None:
        self._optuna = load_optuna()
        self._fields = tuple(fields)
        self._study = self._optuna.create_study(
            sampler=self._optuna.samplers.TPESampler(
                seed=seed, n_startup_trials=FIRST, multivariate=True, constant_liar=True
            ),
            direction="minimize" if is_minimized else "maximize",
        )
        starts = {one.key: one.start for one in fields}
        self.starts_here = starts_here and None not in starts.values()
        if self.starts_here:
            self._study.enqueue_trial(starts)

    def ask(self) -> Proposal:
        """The next point."""
        asked = self._study.ask(distributions(self._optuna, self._fields))
        values = tuple(one.value(asked.params[one.key]) for one in self._fields)
        return Proposal(values, asked)

    def tell(self, proposal: Proposal, value: float | None, excess: float) -> None:
        """Says what became of a point.

        Parameters
        ----------
        value
            The objective; none where the point gives none.
        excess
            How far the point is from what is required: 0 where it does as required, infinite where
            it cannot be run or gives no number.
        """
        proposal.asked.set_constraint("requirements", excess)
        if value is not None and math.isfinite(value):
            self._study.tell(proposal.asked, value)
        else:
            self._study.tell(proposal.asked, state=self._optuna.trial.TrialState.PRUNED)


def distributions(optuna_module: Any, fields: Iterable[Field]) -> dict[str, Any]:
    """What Optuna draws a value of each field from."""
    kinds = optuna_module.distributions
    found = {}
    for one in fields:
        if one.choices:
            found[one.key] = kinds.CategoricalDistribution(range(len(one.choices)))
        elif one.is_whole:
            found[one.key] = kinds.IntDistribution(int(one.low), int(one.high), log=one.is_log)
        else:
            found[one.key] = kinds.FloatDistribution(one.low, one.high, log=one.is_log)
    return found


def importance(
    fields: Sequence[Field], points: Sequence[tuple[Sequence[Value], float]]
) -> Mapping[str, float]:
    """How much each field decides whether a point is among the best: shares that sum to 1.

    PED-ANOVA (S. Watanabe et al., "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in
    Arbitrary Subspaces", IJCAI 2023): how far the values of the best tenth of the trials differ in
    their distribution from those of all. It needs nothing but Optuna, while fANOVA needs
    scikit-learn.

    Parameters
    ----------
    points
        Values and a rank, where less is better; equal ranks are as good. Empty without at least
        twice :data:`TOP_LEAST`.
    """
    if len(points) < 2 * TOP_LEAST:
        return {}
    optuna_module = load_optuna()
    study = optuna_module.create_study()
    drawn_from = distributions(optuna_module, fields)
    for values, rank in points:
        raw = {one.key: _raw(one, value) for one, value in zip(fields, values, strict=True)}
        made = optuna_module.trial.create_trial(params=raw, distributions=drawn_from, value=rank)
        study.add_trial(made)
    share = max(TOP_SHARE, TOP_LEAST / len(points))
    evaluator = optuna_module.importance.PedAnovaImportanceEvaluator(target_quantile=share)
    found = optuna_module.importance.get_param_importances(study, evaluator=evaluator)
    return {one.key: float(found.get(one.key, 0.0)) for one in fields}


def _raw(one: Field, value: Value) -> float:
    """The number that the sampler has for a value."""
    if one.choices:
        return one.choices.index(value)
    number = value.number or 0.0
    return int(number) if one.is_whole else number
