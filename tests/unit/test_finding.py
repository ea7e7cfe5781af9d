"""find_minima and find_maxima: every mode, nothing else, within the bounds and the budget."""

import inspect
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from allmodes import Status, find_maxima, find_minima
from allmodes.nva import presets
from allmodes.problems import benchmark_problems, six_hump_camel, styblinski_tang

BED = {problem.name: problem for problem in benchmark_problems()}
METHODS = {
    "auto": "auto",
    "local": "local",
    "multistart": "multistart",
    "black-box": "black-box",
    "anneal": "anneal",
    "assembly": presets.nva_gm(order=1),
}
every_method = pytest.mark.parametrize("method", list(METHODS))
METHODS["assembly of order 0"] = presets.nva_gm(order=0)
# A dozen problems on which local searches find everything inside the box; none has a mode on the boundary.
DOZEN = [
    "symmetric mixture",
    "asymmetric mixture",
    "Styblinski–Tang d=2",
    "Styblinski–Tang d=4",
    "Gaussian mixture d=2 K=10",
    "Gaussian mixture d=2 K=50",
    "Gaussian mixture d=5 K=20",
    "Himmelblau",
    "six-hump camel",
    "Vincent",
    "banana",
    "degenerate",
    "needle basins d=4",
    "posterior-like mixture d=4 K=40",
]
# About one local search in 1,600 begins in the basin of the smallest needle: a search that ends after the usual 1,200
# without a new mode has found it in two runs of three, one that goes on for 10,000 in all but one of some hundreds.
# About one in 1,000 begins in the smallest basin of Vincent's function: all 36 are found long before 20,000
# evaluations, but some were hit only once or twice by then, so that more modes may well be there.
PATIENT = {
    "needle basins d=4": {"maxfev": 40_000, "options": {"patience": 10_000}},
    "Vincent": {"maxfev": 60_000},
}
# Those on which every method, also the slow ones, finds everything; but annealing misses the lower mode in the middle
# of the symmetric mixture in about every other run.
EASY = ["symmetric mixture", "six-hump camel", "banana"]
WELL = [(-2.0, 2.0), (-2.0, 2.0)]


def double_well(x):
    """Minima at (-1, 0) and (1, 0), with value 0."""
    return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2)


def double_well_jac(x):
    return np.array([4.0 * x[0] * (x[0] ** 2 - 1.0), 2.0 * x[1]])


def double_well_hess(x):
    return np.diag([12.0 * x[0] ** 2 - 4.0, 2.0])


def tilted_well(x):
    """The double well with unequal minima."""
    return double_well(x) + 0.2 * float(x[0])


def tilted_well_jac(x):
    return double_well_jac(x) + np.array([0.2, 0.0])


class Recorder:
    """A function that remembers where it was called: at points (d,), or (N, d) with `vectorized`."""

    def __init__(self, function):
        self.function = function
        self.points = []

    def __call__(self, x, *args):
        self.points.extend(np.array(x, ndmin=2))
        return self.function(x, *args)

    def __len__(self):
        return len(self.points)


def search(problem, method="auto", *, derivatives=2, is_minimum=False, **settings):
    """All calls of a search of a problem, and its result: of -objective with `is_minimum`."""
    sign = -1.0 if is_minimum else 1.0
    objective = problem.objective
    fun = Recorder(lambda x: sign * objective.fun(x))
    # Populations alone go on until the budget is spent.
    given = {"rng": 1, "vectorized": True, "maxfev": 20_000 if method == "black-box" else None} | settings
    if derivatives > 0:
        given["jac"] = lambda x: sign * objective.jac(x)
    if derivatives > 1:
        given["hess"] = lambda x: sign * objective.hess(x)
    find = find_minima if is_minimum else find_maxima
    result = find(fun, problem.bounds, method=METHODS.get(method, method), **given)
    return np.array(fun.points), result


def positions(result):
    return np.array([mode.x for mode in result.modes])


def apart(problem, result):
    """Distances of reported modes to true ones, the largest coordinate in units of the box."""
    width = np.ptp(problem.bounds, axis=1)
    return (np.abs(positions(result)[:, None] - problem.modes[None]) / width).max(axis=2)


def assert_same(a, b):
    """Two results are the same to the last bit."""
    np.testing.assert_array_equal(positions(a), positions(b))
    assert [mode.fun for mode in a.modes] == [mode.fun for mode in b.modes]
    assert (a.nfev, a.nit, a.status) == (b.nfev, b.nit, b.status)


def assert_wells(result, tolerance=1e-4):
    """The two minima of the double well and nothing else."""
    assert len(result.modes) == 2
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=tolerance)
    np.testing.assert_allclose(positions(result)[:, 1], 0.0, atol=tolerance)
    assert all(mode.kind == "minimum" for mode in result.modes)


# ---- every mode, and nothing else


@pytest.mark.parametrize("name", DOZEN)
def test_all_modes_and_nothing_false(name):
    problem = BED[name]
    _, result = search(problem, rng=2, **{"maxfev": 20_000} | PATIENT.get(name, {}))
    distances = apart(problem, result)
    assert (distances.min(axis=0) <= 1e-4).all(), "a mode is missing"
    assert (distances.min(axis=1) <= 1e-4).all(), "a reported mode is false"
    assert len(result.modes) == len(problem.modes), "a mode is reported twice"
    assert result.success
    assert result.status is Status.NOTHING_NEW
    assert [mode.is_global for mode in result.modes] == list(problem.is_global)


@every_method
@pytest.mark.parametrize("name", EASY)
def test_every_method_finds_the_easy_ones(name, method):
    problem = BED[name]
    points, result = search(problem, method)
    distances = apart(problem, result)
    is_wanted = problem.is_global if (name, method) == ("symmetric mixture", "anneal") else slice(None)
    assert (distances.min(axis=0) <= 1e-4)[is_wanted].all()
    assert (distances.min(axis=1) <= 1e-4).all()
    assert len(set(distances.argmin(axis=1))) == len(result.modes), "a mode is reported twice"
    assert (points >= problem.bounds[:, 0]).all()
    assert (points <= problem.bounds[:, 1]).all()
    assert len(points) == result.nfev


@pytest.mark.parametrize("method", ["auto", "local", "multistart", "black-box", "anneal"])
@pytest.mark.parametrize("name", ["Himmelblau", "six-hump camel"])
def test_without_derivatives(name, method):
    problem = BED[name]
    points, result = search(problem, method, derivatives=0)
    distances = apart(problem, result)
    assert (distances.min(axis=0) <= 1e-4).all()
    assert len(result.modes) == len(problem.modes)
    assert (points >= problem.bounds[:, 0]).all()
    assert (points <= problem.bounds[:, 1]).all()
    assert result.njev == result.nhev == 0


@every_method
def test_global_modes_alone(method):
    problem = BED["six-hump camel"]
    _, result = search(problem, method, target="global")
    wanted = problem.modes[problem.is_global]
    width = np.ptp(problem.bounds, axis=1)
    distances = (np.abs(positions(result)[:, None] - wanted[None]) / width).max(axis=2)
    assert len(result.modes) == len(wanted)
    assert distances.min(axis=0).max() <= 1e-4
    assert all(mode.is_global for mode in result.modes)


def test_shubert_from_values_alone():
    problem = BED["Shubert"]
    _, result = search(problem, derivatives=0, target="global")
    wanted = problem.modes[problem.is_global]
    distances = np.abs(positions(result)[:, None] - wanted[None]).max(axis=2)
    assert len(result.modes) == len(wanted) == 18
    assert distances.min(axis=0).max() <= 1e-3


# ---- the user's sign


@pytest.mark.parametrize("is_minimum", [False, True])
@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_values_and_curvatures_have_the_sign_of_the_function(derivatives, is_minimum):
    problem = six_hump_camel()
    sign = -1.0 if is_minimum else 1.0
    _, result = search(problem, derivatives=derivatives, is_minimum=is_minimum)
    x = positions(result)
    np.testing.assert_allclose([mode.fun for mode in result.modes], sign * problem.objective.fun(x), rtol=1e-12)
    values = sign * np.array([mode.fun for mode in result.modes])
    assert (np.diff(values) <= 1e-9).all(), "best first"
    for mode in result.modes:
        hessian = sign * problem.objective.hess(mode.x[None])[0]
        np.testing.assert_allclose(mode.hessian, hessian, rtol=0.02, atol=0.02 * np.abs(hessian).max())
        np.testing.assert_allclose(mode.eigenvalues, np.linalg.eigvalsh(mode.hessian))
        assert (sign * mode.eigenvalues < 0.0).all()
        assert mode.kind == ("minimum" if is_minimum else "maximum")
    assert result.fun == result.modes[0].fun
    np.testing.assert_array_equal(result.x, result.modes[0].x)


def test_minima_of_a_function_are_maxima_of_its_negative():
    problem = six_hump_camel()
    _, up = search(problem)
    _, down = search(problem, is_minimum=True)
    np.testing.assert_array_equal(positions(up), positions(down))
    assert [mode.fun for mode in up.modes] == [-mode.fun for mode in down.modes]
    assert up.maximise
    assert not down.maximise


# ---- budgets are exact


def pair(x):
    return double_well(x), double_well_jac(x)


DERIVATIVES = {
    "none": (double_well, {}),
    "jac": (double_well, {"jac": double_well_jac}),
    "jac=True": (pair, {"jac": True}),
    "both": (double_well, {"jac": double_well_jac, "hess": double_well_hess}),
    "jac=True, hess=2-point": (pair, {"jac": True, "hess": "2-point"}),
}
BUDGETS = (1, 5, 37, 200, 1001)


@every_method
@pytest.mark.parametrize("derivatives", list(DERIVATIVES))
def test_a_budget_is_never_exceeded_and_calls_are_counted(method, derivatives):
    function, given = DERIVATIVES[derivatives]
    if method == "assembly" and not given:
        method = "assembly of order 0"
    for maxfev in BUDGETS:
        fun = Recorder(function)
        result = find_minima(fun, WELL, method=METHODS[method], maxfev=maxfev, rng=3, **given)
        assert len(fun) <= maxfev
        assert len(fun) == result.nfev
        assert all((np.abs(point) <= 2.0).all() for point in fun.points)


@pytest.mark.parametrize("method", ["local", "multistart", "black-box", "anneal"])
def test_a_budget_that_is_too_small_is_used_up(method):
    fun = Recorder(BED["Shubert"].objective.fun)
    result = find_maxima(fun, BED["Shubert"].bounds, vectorized=True, method=method, maxfev=1001, rng=0)
    assert 950 < len(fun) == result.nfev <= 1001  # annealing leaves what is too little for another run
    assert result.status is (Status.BUDGET_SPENT if result.modes else Status.NO_MODE)


def test_gradients_and_hessians_are_counted():
    jac, hess = Recorder(double_well_jac), Recorder(double_well_hess)
    result = find_minima(double_well, WELL, jac=jac, hess=hess, maxfev=300, rng=0)
    assert (len(jac), len(hess)) == (result.njev, result.nhev)
    assert result.nhev > 0


@every_method
def test_a_budget_of_one_gives_the_point(method):
    fun = Recorder(double_well)
    given = {"jac": double_well_jac} if method == "assembly" else {}
    result = find_minima(fun, WELL, method=METHODS[method], maxfev=1, rng=0, **given)
    assert result.nfev == len(fun) == 1
    np.testing.assert_array_equal(result.x, fun.points[0])
    assert result.fun == double_well(fun.points[0])
    assert not result.success
    assert result.status is Status.NO_MODE


# ---- the same result


class HasMap:
    """Anything with a map."""

    def map(self, function, *iterables):
        return list(map(function, *iterables))


def backwards(function, items):
    """A map that works from the end, as workers may."""
    items = list(items)
    return [function(item) for item in items[::-1]][::-1]


@every_method
def test_workers_change_nothing(method):
    given = {"method": METHODS[method], "jac": double_well_jac, "maxfev": 500, "rng": 5}
    alone = find_minima(double_well, WELL, **given)
    for workers in (backwards, HasMap()):
        assert_same(alone, find_minima(double_well, WELL, workers=workers, **given))


def test_two_processes_change_nothing():
    given = {"maxfev": 200, "rng": 5}
    assert_same(find_minima(double_well, WELL, **given), find_minima(double_well, WELL, workers=2, **given))


def test_threads_change_nothing():
    given = {"maxfev": 600, "rng": 5}
    with ThreadPoolExecutor(2) as pool:
        assert_same(find_minima(double_well, WELL, **given), find_minima(double_well, WELL, workers=pool.map, **given))


@every_method
def test_the_same_seed_is_the_same_search(method):
    problem = six_hump_camel()
    points, result = search(problem, method, maxfev=500, rng=7)
    again, second = search(problem, method, maxfev=500, rng=np.random.default_rng(7))
    other, _ = search(problem, method, maxfev=500, rng=8)
    np.testing.assert_array_equal(points, again)
    assert_same(result, second)
    assert points.shape != other.shape or not np.array_equal(points, other)


def test_a_vectorized_function_gives_the_same_result():
    given = {"maxfev": 1000, "rng": 5}
    one = find_minima(lambda x: (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2, WELL, **given)
    many = find_minima(lambda x: (x[:, 0] ** 2 - 1.0) ** 2 + x[:, 1] ** 2, WELL, vectorized=True, **given)
    assert_same(one, many)


def test_both_calls_have_the_same_complete_signature():
    minima, maxima = inspect.signature(find_minima), inspect.signature(find_maxima)
    assert minima == maxima
    assert not [
        name for name, given in minima.parameters.items() if given.kind in (given.VAR_KEYWORD, given.VAR_POSITIONAL)
    ]
    described = find_minima.__doc__.partition("Args:")[2].partition("Returns:")[0]
    assert not [name for name in minima.parameters if f"        {name}: " not in described]
    assert "find_minima" in find_maxima.__doc__
    assert [find.__name__ for find in (find_minima, find_maxima)] == ["find_minima", "find_maxima"]


def test_every_argument_reaches_both_searches():
    """The two calls group their arguments for the loop: each one must arrive in both."""
    seen = []
    given = {
        "x0": [[0.5]], "starts": [[0.5], [0.7]], "warm_start": ([[1.5]], [2.0]), "args": (1.0,),
        "jac": lambda x, a: a * 2 * x, "hess": None,
        "target": "global", "method": "local", "n_modes": 7, "maxfev": 40, "maxiter": 9, "maxtime": 99.0, "xtol": 1e-4,
        "effort": 2.0, "vectorized": False, "periodic": [False], "noise": None, "workers": 1, "timeout": None,
        "retries": 2, "on_error": "nan", "polish": True, "rng": 5, "callback": None, "progress": False,
        "checkpoint": None, "names": ["a"], "options": {"width": 2}, "integrality": [False], "scale": "linear",
        "spread": 3.0, "symmetry": [[0]], "within": 5.0, "min_distance": 0.1, "constraints": [], "cost": 0.5,
    }  # fmt: skip
    assert {"fun", "bounds", *given} == set(inspect.signature(find_minima).parameters)

    def keep(task, function, execution):
        seen.append((task, function, execution))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allmodes.finding.find", keep)
        find_minima(double_well, WELL, **given)
        find_maxima(double_well, WELL, **given)
    expected = {"fun": double_well, "bounds": WELL, **given}
    for (task, function, execution), maximise in zip(seen, (False, True), strict=True):
        found = {**vars(task), **function._asdict(), **execution._asdict()}
        assert found.pop("maximise") is maximise
        assert found.pop("strategy") is None  # of an audit alone
        assert found == expected


# ---- stopping


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (np.True_, Status.STOPPED),
        (np.array(True), Status.STOPPED),
        (np.False_, Status.BUDGET_SPENT),
        (np.array(False), Status.BUDGET_SPENT),
        (1, Status.BUDGET_SPENT),
    ],
)
def test_a_callback_may_answer_with_a_bool_of_numpy(answer, status):
    """As a comparison of two numbers of an array is; a number that happens to be returned is no answer."""
    result = find_minima(double_well, WELL, callback=lambda intermediate_result: answer, rng=0, maxfev=90)
    assert result.status is status


@every_method
def test_a_callback_that_returns_true_stops(method):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)
        return len(seen) == 3

    result = find_minima(double_well, WELL, jac=double_well_jac, method=METHODS[method], callback=callback, rng=0)
    assert len(seen) == result.nit == 3
    assert result.status is Status.STOPPED
    assert [one.nit for one in seen] == [1, 2, 3]
    assert all(one.status is Status.RUNNING for one in seen)
    assert [one.nfev for one in seen] == sorted(one.nfev for one in seen)


def test_a_callback_may_raise_stop_iteration():
    def callback(intermediate_result):
        if intermediate_result.modes:
            raise StopIteration

    result = find_minima(double_well, WELL, callback=callback, rng=0)
    assert result.status is Status.STOPPED
    assert result.success
    assert len(result.modes) >= 1


def test_a_callback_that_returns_something_else_goes_on():
    free = find_minima(double_well, WELL, rng=0)
    assert_same(free, find_minima(double_well, WELL, rng=0, callback=lambda intermediate_result: 1))


def test_an_exception_of_the_callback_is_passed_on():
    def callback(intermediate_result):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        find_minima(double_well, WELL, callback=callback, rng=0)


@every_method
def test_maxiter(method):
    result = find_minima(double_well, WELL, jac=double_well_jac, method=METHODS[method], maxiter=2, rng=0)
    assert result.nit == 2
    assert result.nfev > 0


def test_maxiter_with_modes_has_its_own_status():
    result = find_minima(double_well, WELL, jac=double_well_jac, hess=double_well_hess, maxiter=8, rng=0)
    assert result.status is Status.STEPS_DONE
    assert result.success


def test_maxtime_is_kept():
    rounds = []

    def slow(x):
        time.sleep(0.01)
        return double_well(x)

    result = find_minima(slow, WELL, maxtime=0.3, rng=0, callback=lambda intermediate_result: rounds.append(0))
    assert result.nfev < 500  # 30 evaluations fit, and one round more
    assert " s have passed" in result.message
    assert result.nit == len(rounds)


@pytest.mark.parametrize("method", ["auto", "local", "multistart", "anneal"])
def test_n_modes(method):
    problem = BED["Styblinski–Tang d=4"]
    _, result = search(problem, method, n_modes=5)
    assert 5 <= len(result.modes) < 16
    assert result.status is Status.ENOUGH_MODES
    assert result.success


def test_n_modes_counts_global_modes_when_these_are_wanted():
    problem = BED["Shubert"]
    _, result = search(problem, n_modes=18, target="global")
    assert result.status is Status.ENOUGH_MODES
    assert len(result.modes) == 18
    assert problem.found(positions(result), 1e-3)[problem.is_global].all()


# ---- arguments


@pytest.mark.parametrize(
    ("names", "error"),
    [(-1, TypeError), (2.5, TypeError), (object(), TypeError), ("ab", TypeError), (b"ab", TypeError),
     ({"a", "b"}, TypeError), (["a"], ValueError), (["a", 1], ValueError), (["a", "a"], ValueError)],
)  # fmt: skip
def test_names_are_as_many_strings_as_there_are_coordinates(names, error):
    with pytest.raises(
        error, match=r"^names is .*; (wanted 2 strings, one for each coordinate|every coordinate needs)"
    ):
        find_minima(double_well, WELL, names=names)


def test_names():
    result = find_minima(double_well, WELL, names=["length", "width"], maxfev=300, rng=0)
    assert result.names == ("length", "width")
    assert "length" in repr(result)


def test_args_reach_all_functions():
    def fun(x, centre, scale):
        return scale * ((x[0] - centre) ** 2 + x[1] ** 2)

    def jac(x, centre, scale):
        return 2.0 * scale * np.array([x[0] - centre, x[1]])

    def hess(x, centre, scale):
        return 2.0 * scale * np.eye(2)

    result = find_minima(fun, WELL, args=(0.5, 3.0), jac=jac, hess=hess, maxfev=300, rng=0)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [0.5, 0.0], atol=1e-6)
    np.testing.assert_allclose(result.modes[0].hessian, 6.0 * np.eye(2))


def test_one_argument_needs_no_tuple():
    result = find_minima(lambda x, centre: (x[0] - centre) ** 2, [(-2, 2)], args=0.5, maxfev=300, rng=0)
    np.testing.assert_allclose(result.x, [0.5], atol=1e-5)


@pytest.mark.parametrize("method", ["auto", "local", "multistart"])
def test_a_start_is_evaluated(method):
    fun = Recorder(double_well)
    find_minima(fun, WELL, x0=[0.25, 0.75], method=method, maxfev=300, rng=0)
    assert min(np.abs(point - [0.25, 0.75]).max() for point in fun.points) < 1e-12


@pytest.mark.parametrize("method", ["auto", "local"])
def test_a_start_in_a_narrow_basin_finds_it(method):
    def fun(x):
        return float(0.01 * (x @ x) - np.exp(-0.5 * ((x - 7.0) ** 2).sum() / 0.2**2))

    given = {"maxfev": 500, "method": method, "rng": 0}
    found = find_minima(fun, [(-10, 10)] * 4, x0=[[1.0] * 4, [7.05] * 4], **given)
    assert np.abs(positions(found) - 7.0).max(axis=1).min() < 0.02
    missed = find_minima(fun, [(-10, 10)] * 4, **given)
    assert np.abs(positions(missed) - 7.0).max(axis=1).min() > 1.0


def test_no_bounds_with_a_start():
    fun = Recorder(double_well)
    result = find_minima(fun, x0=[0.3, 0.4], rng=0, maxfev=2000)
    assert_wells(result)


def test_half_infinite_bounds():
    fun = Recorder(double_well)
    result = find_minima(fun, [(-0.5, None), (-2.0, np.inf)], rng=0, maxfev=3000)
    points = np.array(fun.points)
    assert (points >= [-0.5, -2.0]).all()
    near = np.abs(positions(result) - [1.0, 0.0]).max(axis=1)
    assert near.min() < 1e-4
    for mode in result.modes:  # -0.5 is a minimum for nothing: the function falls away from it on the right only
        assert mode.fun <= 0.6


def test_open_sides_of_a_mode_far_away():
    result = find_minima(lambda x: (x[0] - 40.0) ** 2, [(0.0, None)], rng=0, maxfev=3000)
    np.testing.assert_allclose(result.x, [40.0], rtol=1e-4)


# ---- coordinates that wrap around


def test_a_periodic_coordinate():
    def fun(x):
        return -np.cos(2.0 * x[0]) + (x[1] - 0.3) ** 2

    result = find_minima(fun, [(0.0, 2.0 * np.pi), (-1.0, 1.0)], periodic=[0], rng=0, maxfev=3000)
    turns = np.sort(np.round(positions(result)[:, 0] / np.pi, 4) % 2.0)
    assert len(result.modes) == 2, "the mode on the seam is one mode"
    np.testing.assert_allclose(turns, [0.0, 1.0])
    assert all(mode.kind == "minimum" for mode in result.modes)


@pytest.mark.parametrize("method", ["local", "black-box", "anneal"])
@pytest.mark.parametrize("seam", [0.0, 0.4])
def test_a_mode_on_the_seam(method, seam):
    fun = Recorder(lambda x: -np.cos(x[0] - seam) - np.cos(x[1] - seam))
    box = [(0.0, 2.0 * np.pi)] * 2
    result = find_minima(fun, box, periodic=True, method=method, rng=0, maxfev=6000)
    points = np.array(fun.points)
    assert (points >= 0.0).all()
    assert (points <= 2.0 * np.pi).all()
    assert len(result.modes) == 1
    away = (result.x - seam + np.pi) % (2.0 * np.pi) - np.pi
    np.testing.assert_allclose(away, 0.0, atol=1e-4)
    assert result.modes[0].kind == "minimum"
    assert (result.modes[0].eigenvalues > 0.5).all()


def test_without_periodic_the_seam_is_two_modes():
    result = find_minima(lambda x: -np.cos(x[0]), [(0.0, 2.0 * np.pi)], rng=0, maxfev=1000)
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [0.0, 2.0 * np.pi], atol=1e-5)


# ---- modes on the boundary


def test_the_gradient_of_a_mode_is_measured_or_nan():
    """Of values alone a local search ends where its own model is level, which says nothing of the function."""
    fun, jac = lambda x: x[0] + (x[1] - 0.3) ** 4, lambda x: np.array([1.0, 4.0 * (x[1] - 0.3) ** 3])
    for bounds, active in (([(1.0, 2.0), (-1.0, 1.0)], (0,)), ([(1.0, 2.0), (0.5, 1.0)], (0, 1))):
        given = {"rng": 0, "maxfev": 2000}
        plain, sure = find_minima(fun, bounds, **given).modes[0], find_minima(fun, bounds, jac=jac, **given).modes[0]
        assert plain.active == sure.active == active
        assert sure.gradient_norm == pytest.approx(0.0 if len(active) == 2 else abs(jac(sure.x)[1]), abs=1e-9)
        assert np.isnan(plain.gradient_norm) == (len(active) == 1)


@pytest.mark.parametrize("method", ["auto", "local", "multistart", "black-box", "anneal"])
def test_a_mode_on_the_boundary(method):
    fun = Recorder(lambda x: x[0] + (x[1] - 0.3) ** 2)
    maxfev = 20_000 if method == "black-box" else 2000
    result = find_minima(fun, [(1.0, 2.0), (-1.0, 1.0)], method=method, rng=0, maxfev=maxfev)
    assert len(result.modes) == 1
    mode = result.modes[0]
    np.testing.assert_allclose(mode.x, [1.0, 0.3], atol=1e-4)
    assert mode.kind == "boundary"
    assert mode.active == (0,)
    assert mode.eigenvalues.shape == (1,)
    np.testing.assert_allclose(mode.eigenvalues, 2.0, rtol=0.05)
    assert np.isnan(mode.gradient_norm)  # of values alone: not measured
    assert (np.array(fun.points)[:, 0] >= 1.0).all()


@pytest.mark.parametrize("derivatives", [0, 1, 2])
def test_four_corners(derivatives):
    given = {}
    if derivatives > 0:
        given["jac"] = lambda x: -2.0 * x
    if derivatives > 1:
        given["hess"] = lambda x: -2.0 * np.eye(2)
    result = find_minima(lambda x: -(x @ x), [(-1.0, 1.0), (-2.0, 2.0)], rng=0, maxfev=2000, **given)
    assert sorted(map(tuple, positions(result))) == [(-1.0, -2.0), (-1.0, 2.0), (1.0, -2.0), (1.0, 2.0)]
    for mode in result.modes:
        assert mode.kind == "boundary"
        assert mode.active == (0, 1)
        assert mode.fun == -5.0
        assert mode.is_global
        assert mode.eigenvalues.shape == (0,)


def test_a_maximum_on_the_boundary():
    result = find_maxima(lambda x: 2.0 * x[0] - x[1] ** 2, [(0.0, 3.0), (-1.0, 1.0)], rng=0, maxfev=1000)
    assert len(result.modes) == 1
    np.testing.assert_allclose(result.x, [3.0, 0.0], atol=1e-4)
    assert result.fun == pytest.approx(6.0)
    assert result.modes[0].kind == "boundary"
    assert result.modes[0].active == (0,)


# ---- derivatives


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"jac": "2-point"},
        {"jac": double_well_jac},
        {"jac": double_well_jac, "hess": double_well_hess},
        {"jac": double_well_jac, "hess": "2-point"},
        {"jac": "2-point", "hess": "2-point"},
    ],
)
def test_derivatives_as_functions_or_differences(given):
    result = find_minima(double_well, WELL, rng=0, maxfev=2000, **given)
    assert_wells(result)
    for mode in result.modes:
        np.testing.assert_allclose(mode.hessian, np.diag([8.0, 2.0]), atol=0.2)


@pytest.mark.parametrize("hess", [None, "2-point", double_well_hess])
def test_a_function_that_returns_its_gradient(hess):
    result = find_minima(pair, WELL, jac=True, hess=hess, rng=0, maxfev=2000)
    assert_wells(result)
    assert result.njev > 0


@pytest.mark.parametrize("hess", [None, "jax"])
def test_jax(hess):
    jnp = pytest.importorskip("jax.numpy")
    result = find_minima(
        lambda x: (x[0] ** 2 - 1.0) ** 2 + jnp.sum(x[1:] ** 2), WELL, jac="jax", hess=hess, rng=0, maxfev=500
    )
    assert_wells(result)
    assert isinstance(result.fun, float)
    assert result.modes[0].x.dtype == np.float64
    assert result.modes[0].gradient_norm < 1e-5  # float32 would not get there


@pytest.mark.parametrize("hess", [None, "autograd", "2-point"])
def test_autograd(hess):
    anp = pytest.importorskip("autograd.numpy")
    result = find_minima(
        lambda x: (x[0] ** 2 - 1.0) ** 2 + anp.sum(x[1:] ** 2), WELL, jac="autograd", hess=hess, rng=0, maxfev=500
    )
    assert_wells(result)


# ---- interrupted, saved, resumed


class Interrupted:
    """Raises KeyboardInterrupt at the nth call, once."""

    def __init__(self, function, n):
        self.function, self.left = function, n
        self.calls = 0

    def __call__(self, x):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        self.calls += 1
        return self.function(x)


@every_method
@pytest.mark.parametrize("n", [1, 50, 250])
def test_ctrl_c_returns_what_was_found(method, n):
    fun = Interrupted(tilted_well, n)
    result = find_minima(fun, WELL, jac=tilted_well_jac, method=METHODS[method], rng=0, maxfev=5000)
    assert result.status is Status.INTERRUPTED
    assert not result.success
    assert result.nfev <= fun.calls == n - 1
    assert "Interrupted" in result.message
    if n == 250 and method in ("auto", "local", "multistart"):
        assert len(result.modes) == 2


@every_method
@pytest.mark.parametrize("n", [30, 200])
def test_an_interrupted_search_goes_on_from_its_checkpoint(method, n, tmp_path):
    given = {"jac": six_jac, "method": METHODS[method], "rng": 11, "maxfev": 300}
    whole = find_minima(six, SIX_BOX, **given)
    path = tmp_path / "search.npz"
    part = find_minima(Interrupted(six, n), SIX_BOX, checkpoint=path, **given)
    assert part.status is Status.INTERRUPTED
    assert part.nfev < whole.nfev
    assert path.exists()
    rest = find_minima(six, SIX_BOX, checkpoint=path, **given)
    assert_same(whole, rest)


@pytest.mark.parametrize("method", ["auto", "local", "multistart", "anneal"])
def test_starts_that_are_left_are_in_the_checkpoint(method, tmp_path):
    x0 = np.linspace(-1.0, 1.0, 30)[:, None] * [1.0, 0.5]
    given = {"x0": x0, "method": method, "rng": 11, "maxfev": 300}
    path = tmp_path / "search.npz"
    part = find_minima(Interrupted(six, 3), SIX_BOX, checkpoint=path, **given)
    assert part.status is Status.INTERRUPTED
    assert_same(find_minima(six, SIX_BOX, **given), find_minima(six, SIX_BOX, checkpoint=path, **given))


SIX = six_hump_camel()
SIX_BOX = SIX.bounds


def six(x):
    return -float(SIX.objective.fun(x[None])[0])


def six_jac(x):
    return -SIX.objective.jac(x[None])[0]


def test_a_checkpoint_of_another_problem_is_refused(tmp_path):
    path = tmp_path / "search.npz"
    find_minima(double_well, WELL, rng=0, maxfev=100, checkpoint=path)
    with pytest.raises(ValueError, match="another problem"):
        find_minima(double_well, [(-2.0, 3.0), (-2.0, 2.0)], rng=0, maxfev=200, checkpoint=path)
    with pytest.raises(ValueError, match="another problem"):
        find_maxima(double_well, WELL, rng=0, maxfev=200, checkpoint=path)
    with pytest.raises(ValueError, match="method="):
        find_minima(double_well, WELL, rng=0, maxfev=200, checkpoint=path, method="local")


@pytest.mark.parametrize(
    ("method", "given"),
    [("auto", {}), ("auto", {"jac": six_jac}), ("multistart", {}), ("local", {"options": {"width": 8}})],
)
@pytest.mark.parametrize("maxfev", [80, 99, 100])
def test_a_search_that_its_budget_stopped_goes_on_as_if_it_had_not(method, given, maxfev, tmp_path):
    path, given = tmp_path / "search.npz", {"method": method, "rng": 0, **given}
    fun = Recorder(six)
    assert find_minima(fun, SIX_BOX, maxfev=maxfev, checkpoint=path, **given).nfev == maxfev
    rest = find_minima(fun, SIX_BOX, maxfev=600, checkpoint=path, **given)
    assert_same(find_minima(six, SIX_BOX, maxfev=600, **given), rest)
    assert len(fun) == rest.nfev


def test_a_budget_may_grow(tmp_path):
    path = tmp_path / "search.npz"
    first = find_minima(six, SIX_BOX, rng=0, maxfev=100, checkpoint=path)
    fun = Recorder(six)
    second = find_minima(fun, SIX_BOX, rng=0, maxfev=400, checkpoint=path)
    assert first.nfev == 100
    assert second.nfev == 400
    assert len(fun) == 300


# ---- noise


class NoisyWell:
    """The tilted double well with noise of its own generator."""

    def __init__(self, deviation):
        self.deviation, self.rng = deviation, np.random.default_rng(42)

    def __call__(self, x):
        return tilted_well(x) + self.deviation * self.rng.standard_normal()


@pytest.mark.parametrize("noise", [True, 0.01])
def test_two_modes_under_noise(noise):
    result = find_minima(NoisyWell(0.01), WELL, noise=noise, rng=0, maxfev=8000)
    assert len(result.modes) == 2
    truth = np.array([[-1.0240, 0.0], [0.9737, 0.0]])  # roots of 4 x^3 - 4 x + 0.2
    np.testing.assert_allclose(
        positions(result), truth, atol=0.06
    )  # the function falls by less than the noise within that
    for mode in result.modes:
        assert 0.0 < mode.standard_error < 0.01
        assert abs(mode.fun - tilted_well(mode.x)) < 5.0 * mode.standard_error + 1e-3
    assert result.modes[0].is_global
    assert not result.modes[1].is_global


def test_no_standard_error_without_noise():
    assert all(mode.standard_error is None for mode in find_minima(double_well, WELL, rng=0, maxfev=500).modes)


def test_noise_keeps_to_the_budget_and_the_bounds():
    for maxfev in (1, 37, 500):
        fun = Recorder(NoisyWell(0.1))
        result = find_minima(fun, WELL, noise=True, rng=0, maxfev=maxfev)
        assert len(fun) == result.nfev <= maxfev
        assert (np.abs(fun.points) <= 2.0).all()


def test_modes_of_styblinski_tang_have_hits_that_add_up():
    problem = styblinski_tang(2)
    _, result = search(problem)
    assert all(mode.hits >= 1 for mode in result.modes)
    assert all(0 < mode.found_at <= result.nfev for mode in result.modes)
    assert sum(mode.weight for mode in result.modes) == pytest.approx(1.0)


def test_the_old_name_of_a_method_still_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r'method="launch" is now method="local"') as warned:
        result = find_minima(double_well, WELL, rng=0, maxfev=50, method="launch")
    assert warned[0].filename == __file__
    assert result.settings["method"] == result.method == "local"
    with pytest.warns(DeprecationWarning, match=r"Paths.launches is now Paths.searches"):
        assert result.paths.launches == result.paths.searches > 0
    with pytest.warns(DeprecationWarning, match=r"Paths.of_launch is now Paths.by_search"):
        assert result.paths.of_launch.keys() == result.paths.by_search.keys()


def test_who_stopped_a_search_is_said_once():
    result = find_minima(lambda x: x[0] ** 2, [(-2, 2)], callback=lambda intermediate_result: True, rng=0)
    assert result.message.count("The callback asked to stop") == 1
