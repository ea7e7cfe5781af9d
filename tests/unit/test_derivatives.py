"""What users pass as jac and hess, and the derivatives that come of it."""

import sys

import autograd.numpy as anp
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator

BOTH = GRADIENT | HESSIAN
BOX = Box.make([(-2, 2), (-2, 2), (-2, 2)])
POINTS = np.random.default_rng(0).uniform(-2, 2, size=(5, 3))


def quartic(x, xp=np):
    """sum x^4 + exp(x0 x1) at points (..., 3)."""
    return xp.sum(x**4, axis=-1) + xp.exp(x[..., 0] * x[..., 1])


def quartic_jac(x):
    g = 4.0 * x**3
    e = np.exp(x[..., 0] * x[..., 1])
    g[..., 0] += e * x[..., 1]
    g[..., 1] += e * x[..., 0]
    return g


def quartic_hess(x):
    H = 12.0 * x[..., :, None] ** 2 * np.eye(3)
    e = np.exp(x[..., 0] * x[..., 1])
    H[..., 0, 0] += e * x[..., 1] ** 2
    H[..., 1, 1] += e * x[..., 0] ** 2
    H[..., 0, 1] += e * (1 + x[..., 0] * x[..., 1])
    H[..., 1, 0] = H[..., 0, 1]
    return H


def pair(x):
    return quartic(x), quartic_jac(x)


def in_jax(x):
    return quartic(x, jnp)


def in_autograd(x):
    return quartic(x, anp)


def in_torch(x):
    torch = sys.modules["torch"]
    return torch.sum(x**4, dim=-1) + torch.exp(x[..., 0] * x[..., 1])


def evaluator(fun, box=BOX, on_error="raise", **arguments):
    return Evaluator(Source.make(fun, box=box, **arguments), on_error=on_error)


def check(found, points=POINTS, rtol=1e-12):
    np.testing.assert_allclose(found.value, quartic(points), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, quartic_jac(points), rtol=1e-12)
    np.testing.assert_allclose(found.hessian, quartic_hess(points), rtol=rtol, atol=rtol)
    assert all(type(part) is np.ndarray and part.dtype == np.float64 for part in found)


ORDER_TWO = {
    "functions": (quartic, {"jac": quartic_jac, "hess": quartic_hess}),
    "pair": (pair, {"jac": True, "hess": quartic_hess}),
    "jax": (in_jax, {"jac": "jax", "hess": "jax"}),
    "jax by hess": (in_jax, {"hess": "jax"}),
    "jax and a function": (in_jax, {"jac": quartic_jac, "hess": "jax"}),
    "a function and jax": (in_jax, {"jac": "jax", "hess": quartic_hess}),
    "autograd": (in_autograd, {"jac": "autograd", "hess": "autograd"}),
    "autograd and a function": (in_autograd, {"jac": "autograd", "hess": quartic_hess}),
}


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(("fun", "arguments"), ORDER_TWO.values(), ids=ORDER_TWO)
def test_values_gradients_and_hessians(fun, arguments, vectorized):
    e = evaluator(fun, vectorized=vectorized, **arguments)
    assert e.source.order == 2
    check(e.evaluate(POINTS, BOTH))
    assert (e.nfev, e.njev, e.nhev, e.nfail) == (5, 5, 5, 0)
    np.testing.assert_allclose(e.evaluate(POINTS[:2]).value, quartic(POINTS[:2]), rtol=1e-12)
    assert (e.nfev, e.njev, e.nhev) == (7, 5, 5)
    np.testing.assert_allclose(e.evaluate(POINTS[:3], GRADIENT).gradient, quartic_jac(POINTS[:3]), rtol=1e-12)
    assert (e.nfev, e.njev, e.nhev) == (10, 8, 5)


TWO_POINT = {
    "function": (quartic, quartic_jac, 0),
    "pair": (pair, True, 1),
    "jax": (in_jax, "jax", 0),
    "autograd": (in_autograd, "autograd", 0),
}


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(("fun", "jac", "calls"), TWO_POINT.values(), ids=TWO_POINT)
def test_hessians_by_differences_of_gradients(fun, jac, calls, vectorized):
    """They count as gradients, and as calls of fun only where the gradient comes from fun."""
    e = evaluator(fun, jac=jac, hess="2-point", vectorized=vectorized)
    assert e.source.order == 2
    found = e.evaluate(POINTS, BOTH)
    check(found, rtol=2e-6)
    np.testing.assert_array_equal(found.hessian, found.hessian.mT)
    assert (e.nfev, e.njev, e.nhev) == (5 + 15 * calls, 20, 0)
    alone = e.evaluate(POINTS, HESSIAN)
    assert alone.gradient is None
    np.testing.assert_allclose(alone.hessian, found.hessian)
    e.evaluate(POINTS, GRADIENT)
    assert e.njev == 45


@pytest.mark.parametrize("vectorized", [False, True])
def test_differences_stay_inside_the_bounds_and_leave_fixed_coordinates_alone(vectorized):
    box = Box.make([(-1, 1), (2, 2), (1e-9, 3e-9), (None, 5), (1e6, 1e6 + 1e-9)], x0=[0, 2, 2e-9, 5, 1e6])
    seen = []

    def jac(x):
        seen.extend(np.atleast_2d(x).copy())
        return 2.0 * x

    fun = lambda x: (x**2).sum(axis=-1)  # noqa: E731
    e = evaluator(fun, box, jac=jac, hess="2-point", vectorized=vectorized)
    corners = np.array(
        [np.where(np.isfinite(box.lower), box.lower, -3.0), box.upper, (box.start_lower + box.upper) / 2]
    )
    found = e.evaluate(corners, HESSIAN)
    seen = np.array(seen)
    assert len(seen) == 3 * 5
    assert (seen >= box.lower).all()
    assert (seen <= box.upper).all()
    np.testing.assert_allclose(found.hessian, np.broadcast_to(np.diag([2.0, 0, 2, 2, 2]), (3, 5, 5)), rtol=1e-6)


@pytest.mark.parametrize("vectorized", [False, True])
def test_where_nothing_is_free_there_is_nothing_to_difference(vectorized):
    box = Box.make([(1, 1), (2, 2), (0, 0)])
    e = evaluator(quartic, box, jac=quartic_jac, hess="2-point", vectorized=vectorized)
    assert not e.evaluate(box.lower[None], BOTH).hessian.any()
    assert (e.nfev, e.njev) == (1, 1)


def test_a_gradient_that_overwrites_its_buffer_is_differenced_right():
    buffer = np.empty(3)

    def jac(x):
        buffer[:] = quartic_jac(x)
        return buffer

    check(evaluator(quartic, jac=jac, hess="2-point").evaluate(POINTS, BOTH), rtol=2e-6)
    both = np.empty(5), np.empty((5, 3))

    def pair(x):
        if len(x) != 5:
            return quartic(x), quartic_jac(x)
        both[0][:], both[1][:] = quartic(x), quartic_jac(x)
        return both

    check(evaluator(pair, jac=True, hess="2-point", vectorized=True).evaluate(POINTS, BOTH), rtol=2e-6)


@pytest.mark.parametrize("vectorized", [False, True])
def test_torch(vectorized):
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    e = evaluator(in_torch, jac="torch", hess="torch", vectorized=vectorized)
    check(e.evaluate(POINTS, BOTH))
    assert (e.nfev, e.njev, e.nhev) == (5, 5, 5)
    np.testing.assert_allclose(e.evaluate(POINTS).value, quartic(POINTS), rtol=1e-12)
    check(evaluator(in_torch, jac="torch", hess="2-point", vectorized=vectorized).evaluate(POINTS, BOTH), rtol=2e-6)
    check(evaluator(in_torch, jac=quartic_jac, hess="torch", vectorized=vectorized).evaluate(POINTS, BOTH))
    assert torch.get_default_dtype() == before


def test_torch_functions_that_cannot_be_mapped_are_called_point_by_point():
    torch = pytest.importorskip("torch")
    calls = []

    def branching(x):
        calls.append(1)
        if x[0] > 10.0:  # vmap cannot branch on values
            raise ArithmeticError("far")
        return in_torch(x)

    e = evaluator(branching, jac="torch", hess="torch", on_error="nan")
    check(e.evaluate(POINTS, BOTH))
    bad = POINTS.copy()
    bad[1, 0] = 11.0
    found = e.evaluate(bad, BOTH)
    np.testing.assert_array_equal(np.isnan(found.value), [False, True, False, False, False])
    assert (e.nfail, e.failures[0].text) == (1, "ArithmeticError: far")
    assert torch.is_grad_enabled()


def test_torch_constant():
    pytest.importorskip("torch")
    found = evaluator(lambda x: 3.0, jac="torch", hess="torch").evaluate(POINTS, BOTH)
    np.testing.assert_array_equal(found.value, np.full(5, 3.0))
    assert not found.gradient.any()
    assert not found.hessian.any()


@pytest.mark.parametrize(
    ("jac", "hess"), [(None, None), ("2-point", None), (False, None), ("2-point", "2-point"), (None, "2-point")]
)
def test_without_derivatives_there_are_values(jac, hess):
    e = evaluator(quartic, jac=jac, hess=hess)
    assert e.source.order == 0
    np.testing.assert_array_equal(e.evaluate(POINTS, VALUE).value, quartic(POINTS))
    with pytest.raises(ValueError, match="gradient needed, which this objective does not offer"):
        e.evaluate(POINTS, GRADIENT)


@pytest.mark.parametrize("jac", [quartic_jac, True, "jax"])
def test_a_gradient_alone_is_order_one(jac):
    fun = {True: pair, "jax": in_jax}.get(jac, quartic)
    e = evaluator(fun, jac=jac)
    assert e.source.order == 1
    np.testing.assert_allclose(e.evaluate(POINTS, GRADIENT).gradient, quartic_jac(POINTS), rtol=1e-12)
    assert (e.nfev, e.njev, e.nhev) == (5, 5, 0)


@pytest.mark.parametrize("args", [(2.0, 3.0), (2.0,), 2.0], ids=["two", "one", "bare"])
def test_args_go_to_every_function(args):
    def scaled(function):
        return lambda x, a, b=0.0: a * function(x) + (b if function is quartic else 0.0)

    found = evaluator(scaled(quartic), args=args, jac=scaled(quartic_jac), hess=scaled(quartic_hess)).evaluate(
        POINTS, BOTH
    )
    shift = 3.0 if np.size(args) == 2 else 0.0
    np.testing.assert_allclose(found.value, 2.0 * quartic(POINTS) + shift)
    np.testing.assert_allclose(found.gradient, 2.0 * quartic_jac(POINTS))
    np.testing.assert_allclose(found.hessian, 2.0 * quartic_hess(POINTS))
    by_jax = evaluator(scaled(in_jax), args=args, hess="jax").evaluate(POINTS, BOTH)
    np.testing.assert_allclose(by_jax.hessian, found.hessian, rtol=1e-12)


def test_jax_is_left_in_float32_for_everybody_else():
    evaluator(in_jax, hess="jax").evaluate(POINTS, BOTH)
    assert jnp.ones(1).dtype == jnp.float32


def test_jax_compiles_for_few_batch_sizes():
    traces = []

    def counted(x):
        traces.append(x.shape)
        return in_jax(x)

    e = evaluator(counted, jac="jax", vectorized=True)
    values = {N: e.evaluate(np.tile(POINTS[:1], (N, 1)), GRADIENT).value for N in range(1, 33)}
    assert len(traces) <= 3 * 6  # sizes 1, 2, 4, 8, 16, 32
    assert all(len(value) == N for N, value in values.items())
    assert e.nfev == sum(range(1, 33))


def test_a_plain_function_that_returns_jax_arrays_is_compiled():
    calls = []

    def counted(x):
        calls.append(1)
        return in_jax(x)

    e = evaluator(counted, jac=jax.grad(in_jax))
    first = e.evaluate(POINTS, GRADIENT)
    before = len(calls)
    e.evaluate(POINTS, GRADIENT)
    after_trace = len(calls)
    second = e.evaluate(POINTS[::-1], GRADIENT)
    assert before >= 5
    assert len(calls) == after_trace
    np.testing.assert_allclose(first.value, quartic(POINTS), rtol=1e-12)
    np.testing.assert_allclose(second.gradient[::-1], quartic_jac(POINTS), rtol=1e-12)
    assert (e.nfev, e.njev) == (15, 15)


def test_a_function_that_mixes_jax_and_numpy_is_called_as_it_is():
    def mixed(x):
        return jnp.asarray(float(np.sum(np.asarray(x) ** 2)))

    e = evaluator(mixed)
    for _ in range(2):
        np.testing.assert_allclose(e.evaluate(POINTS).value, (POINTS**2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fun": 3}, TypeError, r"fun is 3 \(int\); a function was wanted"),
        (
            {"jac": "jacks"},
            ValueError,
            r"jac is 'jacks' \(str\); wanted None, a function, True, or one of \"jax\", \"torch\"",
        ),
        ({"jac": 3}, TypeError, r"jac is 3 \(int\)"),
        ({"jac": quartic_jac, "hess": True}, TypeError, r"hess is True \(bool\); wanted None, a function, or one of"),
        ({"jac": quartic_jac, "hess": "bfgs"}, ValueError, r"hess is 'bfgs' \(str\)"),
        ({"hess": quartic_hess}, ValueError, "hess was given without jac"),
        ({"jac": "2-point", "hess": quartic_hess}, ValueError, "hess was given without jac"),
        ({"jac": "jax", "hess": "autograd"}, ValueError, "fun cannot be written in both"),
        ({"jac": True, "hess": "jax"}, ValueError, "jac=True and hess='jax'"),
        ({"vectorized": 1}, TypeError, r"vectorized is 1 \(int\)"),
    ],
)
def test_what_cannot_be_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Source.make(**({"fun": quartic, "box": BOX} | arguments))


@pytest.mark.parametrize("package", ["jax", "torch", "autograd"])
@pytest.mark.parametrize("argument", ["jac", "hess"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package, argument):
    monkeypatch.setitem(sys.modules, package, None)
    given = {argument: package} | ({"jac": quartic_jac} if argument == "hess" else {})
    with pytest.raises(
        ImportError, match=rf'{argument}="{package}" needs {package}: pip install "allmodes\[{package}\]"'
    ):
        Source.make(quartic, box=BOX, **given)


def test_a_function_jax_cannot_trace_is_refused_at_once():
    with pytest.raises(TypeError, match='jac="jax": JAX cannot derive fun'):
        Source.make(lambda x: float(np.sum(np.asarray(x))), jac="jax", box=BOX)
    with pytest.raises(TypeError, match=r'hess="jax": JAX cannot derive fun .* one number for a point'):
        Source.make(lambda x: x, hess="jax", box=BOX)
    with pytest.raises(ValueError, match="fun returned shape"):
        Source.make(lambda x: x, hess="jax", vectorized=True, box=BOX)


def test_jac_true_wants_a_pair():
    with pytest.raises(TypeError, match=r"with jac=True it must return \(value, gradient\)"):
        evaluator(quartic, jac=True).evaluate(POINTS)


def test_differences_are_as_long_as_the_rounding_of_the_function_asks():
    """Of gradients in float32 the usual steps tell nothing; a source without differences stays as it is."""
    box = Box.make([(-1, 1), (-1, 1)])
    given = {"fun": lambda x: float((x**4).sum()), "jac": lambda x: np.float32(4.0 * x**3).astype(np.float64)}
    source = Source.make(**given, hess="2-point", box=box)
    x = np.array([[0.3, -0.7]])
    exact = np.diag(12.0 * x[0] ** 2)
    needs = frozenset({"gradient", "hessian"})
    with Evaluator(source) as evaluator:
        evaluator.submit(0, x, needs)
        evaluator.submit(1, x, needs, 6e-8)
        short, long = (evaluator.wait()[0].evaluation.hessian[0] for _ in range(2))
    assert np.abs(short - exact).max() > 0.1
    np.testing.assert_allclose(long, exact, atol=0.02)
    plain = Source.make(**given, box=box)
    assert plain.coarser(6e-8) is plain
