"""`allmodes.audit`: what a multistart has found, with and without the function."""

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, least_squares, minimize

from allmodes import Result, audit
from allmodes.audited import Places, unchecked
from allmodes.ends import read
from allmodes.modes.grouping import group
from allmodes.region import region_of
from allmodes.result import Audit
from allmodes.result.audit import ALONE, ARRIVED, FAILED, NO_OPTIMUM, OUTSIDE, STATES, UNCONVERGED

BOUNDS = [(-6.0, 6.0)] * 2
MINIMA = np.array([[3.0, 2.0], [-2.805118, 3.131313], [-3.779310, -3.283186], [3.584428, -1.848127]])


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def gradient(x):
    a, b = x[0] ** 2 + x[1] - 11.0, x[0] + x[1] ** 2 - 7.0
    return np.array([4.0 * a * x[0] + 2.0 * b, 2.0 * a + 4.0 * b * x[1]])


@pytest.fixture(scope="module")
def runs():
    """Forty runs of Nelder and Mead, four of which were cut off."""
    starts = np.random.default_rng(0).uniform(-6.0, 6.0, (40, 2))
    return [
        minimize(
            himmelblau, start, method="Nelder-Mead", bounds=BOUNDS, options={"maxiter": 12 if i % 10 == 0 else 400}
        )
        for i, start in enumerate(starts)
    ]


@pytest.fixture(scope="module")
def checked(runs):
    return audit(runs, fun=himmelblau, bounds=BOUNDS, rng=0)


def nearest(points):
    return np.abs(np.asarray(points)[:, None] - MINIMA).max(axis=2)


class TestWithTheFunction:
    def test_distinct_optima_are_listed_once_and_verified(self, checked):
        assert len(checked.modes) == 4
        assert sorted(nearest([mode.x for mode in checked.modes]).argmin(axis=1)) == [0, 1, 2, 3]
        assert {mode.kind for mode in checked.modes} == {"minimum"}
        assert sum(mode.weight for mode in checked.modes) == pytest.approx(1.0)

    def test_every_end_belongs_to_the_optimum_that_it_leads_to(self, checked, runs):
        found = checked.audit
        ends = np.array([run.x for run in runs])
        near = nearest(ends).min(axis=1) < 1e-3 * 12.0
        assert near.sum() == found.count("arrived") == 36
        own = np.array([checked.modes[label].x for label in found.labels])
        np.testing.assert_array_equal(nearest(ends)[near].argmin(axis=1), nearest(own)[near].argmin(axis=1))
        assert found.ends("unconverged").tolist() == [0, 10, 20, 30]
        assert [mode.hits for mode in checked.modes] == np.bincount(found.labels).tolist()
        np.testing.assert_allclose(found.distances, np.abs(ends - own).max(axis=1) / 12.0, atol=1e-5)

    def test_it_takes_few_evaluations_and_says_how_many(self, checked):
        assert checked.audit.checked == checked.audit.places <= 8
        assert checked.nfev == checked.audit.nfev <= 40 * checked.audit.places

    def test_what_is_missing_is_about_runs(self, checked):
        assert checked.coverage.of_runs
        assert checked.coverage.counts == tuple(mode.hits for mode in checked.modes)
        assert (checked.coverage.searches, checked.coverage.lost, checked.coverage.nfev) == (40, 0, 40)
        assert "further runs like these" in str(checked.coverage)
        assert checked.coverage.expected(40) < 1.0
        assert checked.history.nfev[-1] == 40
        assert checked.history.modes[-1] == 4

    def test_the_text_says_what_was_found(self, checked):
        text = " ".join(repr(checked).split())
        assert text.startswith(f"audit: 40 runs, {checked.nfev} evaluations, 4 modes in 2-d")
        assert "36 of 40 runs ended at 4 optima. The others: 4 not converged (end " in text
        farthest = checked.audit.ends("unconverged")[np.argmax(checked.audit.distances[[0, 10, 20, 30]])]
        assert f"(end {farthest} the farthest, " in text
        assert max(map(len, repr(checked).splitlines())) < 80

    def test_without_polish_what_no_run_has_reached_is_not_listed(self, runs):
        only = [run for i, run in enumerate(runs) if i % 10 == 0 or nearest([run.x])[0].argmin() == 0]
        left = audit(only, fun=himmelblau, bounds=BOUNDS, polish=False, rng=0)
        assert len(left.modes) == 1
        assert set(left.audit.labels[left.audit.codes == UNCONVERGED]) == {-1}
        assert left.coverage.lost == left.audit.count("unconverged") == 4
        more = audit(only, fun=himmelblau, bounds=BOUNDS, rng=0)
        assert len(more.modes) > 1
        assert more.audit.reached.tolist().count(0) == len(more.modes) - 1
        assert "no run had reached" in more.message

    def test_gradients_and_maxima(self, runs):
        ends, values = np.array([run.x for run in runs]), -np.array([run.fun for run in runs])
        result = audit(ends, values, fun=lambda x: -himmelblau(x), jac=lambda x: -gradient(x), bounds=BOUNDS,
                       maximise=True, names=["a", "b"], rng=0)  # fmt: skip
        assert {mode.kind for mode in result.modes} == {"maximum"}
        assert len(result.modes) == 4
        assert result.names == ("a", "b")
        assert result.njev > 0

    def test_values_may_be_left_out_and_points_come_at_once(self, runs):
        ends = np.array([run.x for run in runs])
        result = audit(ends, fun=lambda x: himmelblau(x.T), vectorized=True, bounds=BOUNDS, rng=0)
        np.testing.assert_allclose(result.audit.values, [run.fun for run in runs])
        assert result.nfev > 40

    def test_without_bounds_the_ends_are_the_unit(self, runs):
        result = audit(runs, fun=himmelblau, rng=0)
        assert len(result.modes) == 4
        assert np.isinf(result.bounds).all()

    def test_least_squares_with_loose_tolerances_by_their_cost(self):
        def residuals(x):
            return [x[0] ** 2 + x[1] - 11.0, x[0] + x[1] ** 2 - 7.0]

        starts = np.random.default_rng(1).uniform(-6.0, 6.0, (30, 2))
        ends = [least_squares(residuals, start, ftol=1e-3, xtol=1e-3, gtol=1e-3) for start in starts]
        result = audit(ends, fun=lambda x: 0.5 * himmelblau(x), bounds=BOUNDS, rng=0)
        assert nearest([mode.x for mode in result.modes]).min(axis=1).max() < 1e-4
        assert len(result.modes) == 4

    def test_a_level_valley_is_one_mode(self):
        angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 12)
        ends = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        result = audit(ends, fun=lambda x: (x[0] ** 2 + x[1] ** 2 - 1.0) ** 2, bounds=[(-2, 2)] * 2, rng=0)
        assert [mode.kind for mode in result.modes] == ["flat"]
        assert result.audit.count("arrived") == 12

    def test_ends_at_the_tip_of_a_cone_and_at_rounding_of_a_valley_are_optima(self):
        cone = audit([[2e-9, -1e-9], [0.0, 0.0]], fun=lambda x: 1.0 - np.exp(-0.2 * np.hypot(*x)), bounds=[(-3, 4)] * 2,
                     rng=0)  # fmt: skip
        assert [mode.hits for mode in cone.modes] == [2]
        angle = np.linspace(0.1, 1.5, 20)
        ends = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (1.0 + 1e-9)
        ring = audit(ends, fun=lambda x: (x[0] ** 2 + x[1] ** 2 - 1.0) ** 2, bounds=[(-2, 2)] * 2, rng=0)
        assert [mode.hits for mode in ring.modes] == [20]

    def test_wrong_gradients_are_refused_with_what_can_be_done_here(self, runs):
        with pytest.raises(ValueError, match="jac disagrees with fun") as caught:
            audit(runs, fun=himmelblau, jac=lambda x: 2.0 * gradient(x), bounds=BOUNDS, rng=0)
        assert "options" not in str(caught.value)

    def test_a_minimum_at_a_bound_and_coordinates_that_wrap_around(self):
        corner = audit([[0.0, 0.0], [1e-5, 0.0]], fun=lambda x: x[0] + 2.0 * x[1], bounds=[(0, 1)] * 2, rng=0)
        assert [(mode.kind, mode.hits) for mode in corner.modes] == [("boundary", 2)]
        ends = [[0.0005], [6.2828], [3.1]]
        wrapped = audit(ends, fun=lambda x: -np.cos(2.0 * x[0]), bounds=[(0, 2 * np.pi)], periodic=True, rng=0)
        assert [mode.hits for mode in wrapped.modes] in ([2, 1], [1, 2])

    def test_labels_that_switch_are_two_optima(self):
        def mixture(x):
            return (x[0] + x[1] - 3.0) ** 2 + (x[0] * x[1] - 2.0) ** 2

        starts = np.random.default_rng(0).uniform(0.0, 4.0, (12, 2))
        ends = [minimize(mixture, start, method="L-BFGS-B", bounds=[(0, 4)] * 2) for start in starts]
        found = sorted(mode.x.round(4).tolist() for mode in audit(ends, fun=mixture, bounds=[(0, 4)] * 2, rng=0).modes)
        assert found == [[1.0, 2.0], [2.0, 1.0]]

    def test_the_budget_is_kept_and_what_was_not_checked_is_counted(self, runs):
        result = audit(runs, fun=himmelblau, bounds=BOUNDS, maxfev=60, rng=0)
        assert result.nfev <= 60
        assert result.audit.count("unchecked") > 0
        assert result.coverage.lost == (result.audit.labels < 0).sum()
        left = result.audit.places - result.audit.checked
        assert f"{left} of {result.audit.places} places are not checked" in result.message

    def test_ends_that_lead_nowhere_say_why(self):
        result = audit([[0.0], [0.5]], fun=lambda x: x[0], rng=0)
        assert not result.modes
        assert not result.success
        assert result.audit.codes.tolist() == [NO_OPTIMUM] * 2
        assert result.audit.why(1).startswith("end 1 is no optimum: the function gets better without end")

    def test_one_value_that_is_odd_is_said_and_many_are_refused(self, runs):
        ends, values = np.array([run.x for run in runs]), np.array([run.fun for run in runs])
        worst = int(values.argmax())
        values[worst] += 7.0
        result = audit(ends, values, fun=himmelblau, bounds=BOUNDS, rng=0)
        assert result.audit.odd == (worst,)
        assert f"The value of end {worst} is not that of fun" in result.message


class TestWithoutTheFunction:
    def test_places_are_listed_and_nobody_knows_what_they_are(self, runs):
        result = audit(runs, bounds=BOUNDS)
        assert result.nfev == 0
        assert {mode.kind for mode in result.modes} == {"unverified"}
        assert nearest([mode.x for mode in result.modes[:4]]).min(axis=1).max() < 1e-3
        assert len(result.modes) == 4  # those cut off say so
        assert "Without fun it is not known whether any of them is an optimum" in result.message
        assert "weight" not in repr(result)
        assert all(np.isnan(mode.weight) for mode in result.modes)

    def test_an_end_that_stands_alone_is_a_place_unless_its_optimiser_denies_it(self):
        there = [OptimizeResult(x=[0.0], fun=0.0, success=True)] * 3
        alone = [OptimizeResult(x=[0.5], fun=1.0, success=True), OptimizeResult(x=[0.9], fun=2.0, success=False)]
        result = audit(there + alone, bounds=[(0, 1)])
        assert [mode.hits for mode in result.modes] == [3, 1]
        assert result.audit.codes.tolist() == [ARRIVED] * 3 + [ALONE, UNCONVERGED]
        assert result.audit.labels.tolist() == [0, 0, 0, 1, -1]
        assert result.audit.why(4) == "end 4 had not converged: its optimiser says that it did not converge"
        assert "nobody knows" in result.audit.why(3)
        assert "takes each for an optimum" in result.message

    def test_a_chain_of_equal_values_is_said_to_be_taken_for_a_valley(self):
        angle = np.linspace(0.0, 2.0 * np.pi, 300)
        ends = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        result = audit(ends, np.zeros(300), bounds=[(-2, 2)] * 2)
        assert len(result.modes) == 1
        assert result.audit.valleys == (0,)
        assert "taken for one valley" in result.message

    def test_runs_from_one_start_count_once_for_what_is_missing(self):
        ends, starts = np.repeat([[0.0], [0.5], [1.0]], 5, axis=0), np.repeat([[0.1], [0.4], [0.8]], 5, axis=0)
        assert audit(ends, np.zeros(15), bounds=[(0, 1)]).coverage.counts == (5, 5, 5)
        result = audit(ends, np.zeros(15), starts=starts, bounds=[(0, 1)])
        assert result.coverage.counts == (1, 1, 1)
        assert [mode.hits for mode in result.modes] == [5, 5, 5]

    def test_the_estimate_is_that_of_the_search(self):
        label = np.repeat(np.arange(6), [20, 9, 4, 2, 1, 1])
        result = audit(label[:, None] / 10.0, label.astype(float), bounds=[(0, 1)])
        from allmodes.modes.coverage import estimate

        wanted = estimate([20, 9, 4, 2, 1, 1])
        assert result.coverage.missing_range == wanted.missing_range
        assert result.coverage.missing_modes == wanted.missing_modes > 0.0


class TestBadInput:
    ENDS = np.array([[3.0, 2.0], [3.0, 2.0], [0.0, 0.0]])
    VALUES = np.array([0.0, 0.0, 170.0])

    def test_what_is_no_number_or_outside_is_counted(self):
        ends = np.array([[3.0, 2.0], [np.nan, 0.0], [-5.0, 0.0], [3.0, 2.0]])
        result = audit(ends, [0.0, 1.0, 2.0, np.inf], bounds=[(0, 6)] * 2)
        assert result.audit.codes.tolist() == [ALONE, FAILED, OUTSIDE, FAILED]
        assert result.audit.labels.tolist() == [0, -1, -1, -1]
        assert result.audit.count("outside") == 1
        assert "1 outside the bounds, 2 failed" in result.message

    @pytest.mark.parametrize("n", [1, 50])
    def test_one_end_and_many_that_are_identical(self, n):
        ends, values = np.repeat(self.ENDS[:1], n, axis=0), np.zeros(n)
        assert [mode.hits for mode in audit(ends, values).modes] == [n]
        assert [mode.kind for mode in audit(ends, values, fun=himmelblau, rng=0).modes] == ["minimum"]

    @pytest.mark.parametrize(
        ("more", "error", "told"),
        [
            ({"values": [1.0]}, ValueError, "3 ends and 1 values"),
            ({"values": None}, ValueError, "values are not given"),
            ({"fun": 3}, TypeError, "wanted the function"),
            ({"fun": lambda x: 5.0}, ValueError, "value of end 0 is 0, and fun gives 5: is it the same function"),
            ({"fun": lambda x: -himmelblau(x) - 1.0, "values": [1.0, 1.0, 171.0]}, ValueError,
             "fun gives -1: is it maximised"),
            ({"fun": lambda x: np.nan, "values": None}, ValueError, "no finite value at any of the 3 ends"),
            ({"bounds": [(7, 8)] * 2}, ValueError, "all 3 ends are outside the bounds"),
            ({"xtol": 0.0}, ValueError, "xtol is 0.0; it must be greater than 0"),
            ({"maxfev": 0}, ValueError, "maxfev is 0"),
            ({"names": ["a"]}, ValueError, "wanted 2 strings"),
            ({"names": 3}, TypeError, "wanted 2 strings"),
            ({"bound": BOUNDS}, TypeError, "did you mean 'bounds'"),
            ({"residuals": himmelblau}, TypeError, "half their sum of squares"),
            ({"rng": -1, "fun": himmelblau}, ValueError, "rng is -1"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_said(self, more, error, told):
        with pytest.raises(error, match=told):
            audit(self.ENDS, **({"values": self.VALUES, "bounds": BOUNDS} | more))

    def test_noise_is_refused(self):
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match="fun is noisy"):
            audit(self.ENDS, fun=lambda x: himmelblau(x) + 1e-3 * rng.standard_normal(), bounds=BOUNDS, rng=0)


class TestAudit:
    def test_it_is_saved_with_the_result(self, checked, tmp_path):
        checked.save(tmp_path / "audit.npz")
        again = Result.load(tmp_path / "audit.npz")
        assert repr(again) == repr(checked)
        np.testing.assert_array_equal(again.audit.states, checked.audit.states)
        assert again.audit.why(0) == checked.audit.why(0)

    def test_states_have_names(self, checked):
        assert set(checked.audit.states) <= set(STATES)
        assert len(checked.audit) == 40
        with pytest.raises(ValueError, match="wanted one of arrived"):
            checked.audit.ends("lost")

    def test_every_state_has_a_sentence(self):
        n = len(STATES)
        one = np.arange(n)
        found = Audit(np.zeros(n, int), one, np.full(n, 0.1), np.zeros(n), (), -np.ones(n, int), 1e-3, True, 1, 1)
        said = [found.why(end) for end in range(n)]
        assert len(set(said)) == n
        assert all(text.startswith(f"end {end} ") for end, text in enumerate(said))


def test_places_are_units_of_the_box():
    ends = read([[2.0], [4.0], [2.001]], [0.0, 1.0, 0.5])
    region = region_of(ends, [(2, 4)], None)
    units = region.box.to_unit(ends.points)
    places = Places(
        ends, region.box, False, np.arange(3), units, group(units, ends.values, 1e-3), np.zeros(3, bool), 1e-3
    )
    np.testing.assert_allclose(places.apart(units[[0, 0, 0]]), [0.0, 1.0, 0.0005])
    result = unchecked(places)
    assert [mode.hits for mode in result.modes] == [2, 1]
    assert result.history.modes.tolist() == [1, 2, 2]


def test_ctrl_c_keeps_what_is_known_and_asks_for_nothing():
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return himmelblau(x)

    result = audit([[3.0, 2.0], [1.0, 1.0], [0.0, 0.0]], fun=interrupted, bounds=[(-5, 5)] * 2)
    assert result.status.name == "INTERRUPTED"
    assert "places are not checked." in result.message
    assert "maxfev" not in result.message


def test_places_that_nobody_checked_are_not_called_modes():
    result = audit([[3.0, 2.0], [3.0, 2.0], [-2.8, 3.13]], [0.0, 0.0, 0.01])
    assert str(result).startswith("audit: 3 runs, 0 evaluations, 2 distinct places in 2-d")
    html = result._repr_html_()
    assert "<strong>2 distinct places</strong>" in html
    assert "global" not in html


def test_many_places_are_counted_in_thousands():
    rng = np.random.default_rng(0)
    text = str(audit(rng.uniform(size=(2000, 6)), rng.uniform(size=2000)).audit)
    assert "2,000 of 2,000 runs ended at 2,000 distinct places, 2,000 of them" in text
