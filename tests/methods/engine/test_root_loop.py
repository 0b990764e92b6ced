"""The root loop: when it stops, changes its way, and builds solutions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tacit.methods.engine.progress import Progress
from tacit.methods.engine.root_loop import RootLoop
from tacit.options import Options


class Told(RootLoop):
    """Has the bounds that it is told, one per round, and writes down what it is asked for."""

    window = 3

    def __init__(
        self, bounds: Sequence[float], *, ways: int = 1, recalls: int = 0, last_cut: int = 1000
    ):
        self.progress = Progress(Options(time_limit=1e6, gap=0.0))
        self.progress.better(100.0)
        super().__init__(self.progress)
        self._bounds, self._ways, self._recalls, self._last = bounds, ways, recalls, last_cut
        self.done: list[str] = []

    @property
    def bound(self) -> float:
        """The bound of this round."""
        return self._bounds[self.progress.iterations - 1]

    def tighten(self) -> bool:
        """There is something left as long as a bound was told."""
        self.done.append("tighten")
        return self.progress.iterations < len(self._bounds)

    def recall(self) -> bool:
        """Some of the first rounds are spent on rows that are known."""
        return self.progress.iterations <= self._recalls

    def cut(self) -> bool:
        """There are cuts in so many rounds."""
        self.done.append("cut")
        return self.progress.iterations < self._last

    def change_way(self) -> bool:
        """There are so many ways."""
        self._ways -= 1
        self.done.append("change")
        return self._ways > 0

    def build(self) -> None:
        """Nothing is built."""
        self.done.append("build")


def test_it_ends_when_nothing_is_violated() -> None:
    """Without cuts the loop is over, and something may be left."""
    loop = Told([10.0] * 50, last_cut=2)
    assert loop.run(seconds=1e6)
    assert loop.done.count("cut") == 2


def test_it_ends_when_nothing_better_is_left() -> None:
    """A relaxation without solution ends the loop, and says so."""
    assert not Told([10.0, 30.0, 50.0]).run(seconds=1e6)


def test_it_changes_its_way_before_it_gives_up() -> None:
    """A bound that stands still is given a second way of cutting, counted from then on."""
    loop = Told([10.0] * 50, ways=2)
    assert loop.run(seconds=1e6)
    assert loop.done.count("change") == 2
    # Three rounds without gain after the first of each way; the last stall cuts no more.
    assert loop.done.count("tighten") == 8
    assert loop.done.count("cut") == 7


@pytest.mark.parametrize(("share", "rounds"), [(0.0, 4), (0.5, 7)])
def test_progress_may_be_measured_over_a_share_of_all_rounds(share: float, rounds: int) -> None:
    """After a rise it stalls when the bound stood still for the window, or for half the rounds."""
    kind = type("Shared", (Told,), {"window_share": share})
    loop = kind([10.0 * n for n in range(6)] + [51.0] * 90)
    assert loop.run(seconds=1e6)
    assert loop.done.count("tighten") == 6 + rounds


def test_rounds_that_only_recall_rows_do_not_count_as_stalled() -> None:
    """While known rows come back, nothing is separated and no progress is expected."""
    loop = Told([10.0] * 50, recalls=20)
    loop.run(seconds=1e6, rounds=20)
    assert loop.done == ["tighten"] * 20


def test_solutions_are_built_when_the_bound_has_moved() -> None:
    """One at the beginning, then whenever a tenth of the open gap was closed since the last."""
    loop = Told([10.0, 12.0, 14.0, 30.0, 31.0, 60.0, 61.0])
    loop.run(seconds=1e6, rounds=6)
    moves = "".join("b" if done == "build" else "." for done in loop.done if done != "tighten")
    assert moves == ".b..." + "b.." + "b"


def test_time_ends_it() -> None:
    """Without time there is no round."""
    loop = Told([10.0] * 50)
    assert loop.run(seconds=0.0)
    assert loop.done == []
