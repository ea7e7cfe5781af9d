"""Every optimum of a pyPESTO problem, and everything that pyPESTO draws of them."""

import numpy as np
import pytest

pypesto = pytest.importorskip("pypesto")
plt = pytest.importorskip("matplotlib.pyplot")

import pypesto.optimize  # noqa: E402, F811
import pypesto.profile  # noqa: E402
import pypesto.visualize  # noqa: E402

from allmodes.adapters import pypesto as adapter  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("closed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what pyPESTO is made of
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

TIMES = np.linspace(0.0, 3.0, 30)
DATA = np.exp(-0.5 * TIMES) + np.exp(-2.0 * TIMES) + np.random.default_rng(0).normal(0.0, 0.01, 30)


@pytest.fixture
def closed(monkeypatch):
    """No window opens, and no figure stays open."""
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def camel(x):
    a, b = x[:2]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2 + (x[2] - 1) ** 2


def slope(x):
    a, b = x[:2]
    return np.array([8 * a - 8.4 * a**3 + 2 * a**5 + b, a + 16 * b**3 - 8 * b, 2 * (x[2] - 1)])


def camel_problem(**given):
    bounds = {"lb": [-3, -2, -5], "ub": [3, 2, 5]}
    fixed = {"x_fixed_indices": [2], "x_fixed_vals": [1.5], "x_names": ["a", "b", "c"]}
    return pypesto.Problem(pypesto.Objective(fun=camel, grad=slope), **(bounds | fixed | given))


def residuals(x):
    return (np.exp(-(10 ** x[0]) * TIMES) + x[2] * np.exp(-(10 ** x[1]) * TIMES) - DATA) / 0.01


def sensitivities(x):
    k, log = 10 ** np.asarray(x[:2]), np.log(10.0)
    decays = np.exp(-np.outer(TIMES, k))
    return (
        np.stack([-TIMES * k[0] * log * decays[:, 0], -x[2] * TIMES * k[1] * log * decays[:, 1], decays[:, 1]], axis=1)
        / 0.01
    )


def decays(objective):
    """Two rates as logarithms, and an amplitude that is fixed."""
    return pypesto.Problem(
        objective, lb=[-2, -2, 0.1], ub=[2, 2, 3], x_names=["k1", "k2", "A"], x_fixed_indices=[2], x_fixed_vals=[1.0],
        x_scales=["log10", "log10", "lin"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    problem = camel_problem()
    return problem, adapter.minimize(problem, rng=0)


def test_every_mode_is_an_optimizer_result_with_the_fixed_parameter_in_its_place(found):
    _, result = found
    listed = result.optimize_result
    assert len(listed) == len(result.allmodes.modes) == 6
    assert listed.fval == sorted(listed.fval)
    for one, mode in zip(listed.list, result.allmodes.modes, strict=True):
        assert one.x[:2] == pytest.approx(mode.x)
        assert one.x[2] == 1.5
        assert one.fval == pytest.approx(camel(one.x), abs=1e-12)
        assert one.hess.shape == (3, 3)
        assert one.free_indices.tolist() == [0, 1]
        assert one.message == "minimum"
    assert result.allmodes.names == ("a", "b")
    assert "a summary of the best run" in result.summary().lower()


def test_a_history_ends_in_its_mode_and_its_places_are_what_n_fval_counts(found):
    _, result = found
    for one in result.optimize_result.list:
        values, places = np.array(one.history.get_fval_trace()), one.history.get_x_trace()
        assert len(values) == one.n_fval == one.history.n_fval
        assert places[-1] == pytest.approx(one.x[:2])
        assert values[-1] == one.fval == values.min()
        assert [camel([*x, 1.5]) for x in places] == pytest.approx(values)
        assert np.isnan(one.history.get_time_trace()).all()
    assert max(one.n_fval for one in result.optimize_result.list) > 5
    assert sum(result.optimize_result.n_fval) < result.allmodes.nfev
    assert sum(result.optimize_result.time) == pytest.approx(result.allmodes.seconds)


def test_pypesto_draws_them(found):
    _, result = found
    draw = pypesto.visualize
    assert draw.waterfall(result).has_data()
    assert draw.parameters(result).has_data()
    lines = draw.optimizer_history(result).lines
    assert sum(len(line.get_xdata()) > 2 for line in lines) >= 3
    with pytest.raises(ValueError, match="No gradient trace"):
        draw.optimizer_history(result, trace_y="gradnorm")


def test_a_profile_starts_from_any_of_them(found):
    problem, result = found
    pypesto.profile.parameter_profile(
        problem=problem, result=result, optimizer=pypesto.optimize.ScipyOptimizer(), profile_index=np.array([1]),
        result_index=2, progress_bar=False, overwrite=True,
    )  # fmt: skip
    profile = result.profile_result.list[-1][1]
    assert np.abs(profile.x_path[1] - result.optimize_result[2].x[1]).min() < 1e-6
    pypesto.visualize.profiles(result)


def test_it_is_saved_and_read_by_pypesto(found, tmp_path):
    pytest.importorskip("h5py")
    from pypesto.store import read_result, write_result

    _, result = found
    write_result(result, str(tmp_path / "result.hdf5"), problem=False, profile=False, sample=False)
    read = read_result(str(tmp_path / "result.hdf5"), problem=False, profile=False, sample=False)
    assert read.optimize_result.fval == result.optimize_result.fval


@pytest.mark.parametrize(
    ("given", "is_fit"),
    [
        ({"res": residuals, "sres": sensitivities}, True),
        ({"res": residuals, "fun": lambda x: 0.5 * (residuals(x) ** 2).sum() + 7.0}, True),
        ({"res": residuals, "fun": lambda x: 0.5 * (residuals(x) ** 2).sum() + 100.0 * (x[0] + 1.0) ** 2}, False),
    ],
)
def test_residuals_are_fitted_where_they_are_the_objective(given, is_fit):
    problem = decays(pypesto.Objective(**given))
    result = adapter.minimize(problem, rng=0, maxfev=2000)
    assert result.allmodes.is_fit == is_fit
    one = result.optimize_result[0]
    value = given["fun"] if "fun" in given else lambda x: 0.5 * (residuals(x) ** 2).sum()
    assert one.fval == pytest.approx(float(value(one.x)), rel=1e-9)
    assert one.x[2] == 1.0
    if is_fit:  # the logarithms of the rates, which may exchange their names
        assert len(result.optimize_result) == 2
        assert np.sort(one.x[:2]) == pytest.approx(np.log10([0.5, 2.0]), abs=0.01)
        assert one.n_res == len(one.history)
        assert one.n_fval == 0
        assert one.res == pytest.approx(residuals(one.x))
        pypesto.visualize.parameters(result)
        pypesto.visualize.optimizer_history(result)
    else:
        assert one.n_fval == len(one.history)


def test_weights_are_those_of_the_density_that_pypesto_samples():
    objective = pypesto.Objective(fun=lambda x: 0.5 * min(((x[0] - 2) / 0.1) ** 2, ((x[0] + 2) / 0.3) ** 2))
    result = adapter.minimize(pypesto.Problem(objective, lb=[-5], ub=[5]), rng=0, maxfev=600).allmodes
    assert result.temperature == 1.0
    assert [m.weight for m in sorted(result.modes, key=lambda m: m.x[0])] == pytest.approx([0.75, 0.25], abs=0.01)
    scaled = adapter.minimize(camel_problem(), rng=0, maxfev=200, options={"temperature": 2.0})
    assert scaled.allmodes.temperature == 2.0


def test_guesses_are_starts_and_must_be_inside_the_bounds():
    seen = []

    def fun(x):
        seen.append(x.tolist())
        return camel(x)

    given = {"lb": [-3, -2, -5], "ub": [3, 2, 5]}
    problem = pypesto.Problem(pypesto.Objective(fun=fun), **given, x_guesses=[[0.25, -0.75, 1.25]])
    adapter.minimize(problem, rng=0, maxfev=100)
    assert [0.25, -0.75, 1.25] in seen
    problem = pypesto.Problem(pypesto.Objective(fun=fun), **given, x_guesses=[[4.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="x_guesses of the problem leave its bounds"):
        adapter.minimize(problem)


def test_without_bounds_the_region_of_starts_says_where_to_look():
    nothing = {"lb": [-np.inf] * 3, "ub": [np.inf] * 3}
    with pytest.raises(ValueError, match="parameter a has no bounds; give the problem lb and ub, or lb_init"):
        adapter.minimize(camel_problem(**nothing))
    region = {"lb_init": [-2, -1, -5], "ub_init": [4, 1, 5]}
    settings = adapter.minimize(camel_problem(**nothing, **region), rng=0, maxfev=100).allmodes.settings
    assert settings["spread"] == [3.0, 1.0]
    assert settings["x0"] == [[1.0, 0.0]]
    guessed = adapter.minimize(camel_problem(**nothing, x_guesses=[[0.5, 0.5, 0.0]]), rng=0, maxfev=100)
    assert guessed.allmodes.settings["x0"] == [[0.5, 0.5]]


def test_a_search_without_a_mode_and_one_without_paths():
    stopped = adapter.minimize(camel_problem(), rng=0, maxfev=3)
    assert len(stopped.optimize_result) == len(stopped.allmodes.modes) == 0
    assert np.isfinite(stopped.allmodes.fun)
    rough = adapter.minimize(camel_problem(), rng=0, maxfev=3000, method="anneal", polish=False)
    assert rough.optimize_result.fval[0] == pytest.approx(camel([0.0898, -0.7127, 1.5]), abs=0.05)
    assert set(rough.optimize_result.n_fval) == {1}  # the mode alone


def test_objectives_that_fail():
    problem = pypesto.Problem(pypesto.Objective(fun=lambda x: np.nan), lb=[0], ub=[1])
    result = adapter.minimize(problem, maxfev=50)
    assert len(result.optimize_result) == 0
    assert "no finite value" in result.allmodes.message

    def fails(x):
        raise RuntimeError("the solver gave up")

    problem = pypesto.Problem(pypesto.Objective(fun=fails, res=fails), lb=[0], ub=[1])
    with pytest.raises(RuntimeError, match="the solver gave up"):
        adapter.minimize(problem, maxfev=50)
    assert not adapter.minimize(problem, maxfev=50, on_error="nan").allmodes.success


def test_what_cannot_be_asked_for():
    problem = camel_problem()
    with pytest.raises(ValueError, match="residuals=True, and the objective of the problem has none"):
        adapter.minimize(problem, residuals=True)
    with pytest.raises(TypeError, match="did you mean 'maxfev'"):
        adapter.minimize(problem, max_nfev=3)
    with pytest.raises(TypeError, match=r"problem is None \(NoneType\); wanted a pypesto\.Problem"):
        adapter.minimize(None)
    problem.fix_parameters([0, 1], [0.0, 0.0])
    with pytest.raises(ValueError, match="all parameters of the problem are fixed"):
        adapter.minimize(problem)


def test_the_interface_of_pypesto_is_the_one_that_the_adapter_was_written_for():
    problem = camel_problem()
    for name in ("dim", "lb", "ub", "lb_init", "ub_init", "x_guesses", "x_free_indices", "x_names", "objective"):
        assert hasattr(problem, name), f"pypesto.Problem has no {name} any more: see allmodes/adapters/pypesto.py"
    for name in ("has_fun", "has_grad", "has_res", "has_sres", "get_fval", "get_res", "get_sres", "initialize"):
        assert hasattr(problem.objective, name), f"pypesto objectives have no {name} any more"
    history = pypesto.history.MemoryHistory(pypesto.history.HistoryOptions(trace_record=True))
    history.update(np.zeros(2), (0,), "mode_fun", {"fval": 3.0})
    assert history.get_fval_trace() == [3.0], "pypesto keeps histories in another way"
    assert set(history._trace) >= {"time", "fval"}, "pypesto keeps times of histories in another way"
    assert pypesto.C.TIME == "time"
