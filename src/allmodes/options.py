"""What users may pass as `options`: settings that few searches need."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from allmodes.checks import number, whole_number

_OPTIONS = {
    "feasibility": "what a mode may violate a constraint by, as a share of the constraint's scale",
    "temperature": "at which the weights of modes are stated, in units of the function",
    "width": "local searches in flight: a whole number, at least that many from the beginning",
    "patience": "local searches without a new mode before the search ends, at least",
    "shadow": "share of the local searches recognised by known modes that run on, to see whether they are right",
    "checkpoint_every": "seconds between two checkpoints",
    "check": "whether to look at the function first: at noise, rounding, jac and hess; True unless given",
    "swap": "whether exchanging two whole numbers or choices of the same bounds is a small change, too; else False",
    "order": '"fixed", or "completion" to tell searches as they come: quicker where times differ, never the same twice',
}
_ORDERS = ("fixed", "completion")
# What options of SciPy's methods are called that are arguments here.
_ARGUMENTS = {
    "maxiter": "maxiter", "maxfev": "maxfev", "maxfun": "maxfev", "max_nfev": "maxfev", "disp": "progress",
    "xatol": "xtol", "xtol": "xtol", "fatol": "xtol", "ftol": "xtol", "gtol": "xtol", "return_all": "callback",
    "iprint": "progress", "maxtime": "maxtime", "workers": "workers", "seed": "rng", "rng": "rng", "n_modes": "n_modes",
}  # fmt: skip


def checked_options(options: Any) -> dict[str, Any]:
    """A copy of `options=`, or an error that says which of them is wrong."""
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise TypeError(f"options is {options!r} ({type(options).__name__}); wanted a dict.")
    for name in options:
        if name not in _OPTIONS:
            if name in _ARGUMENTS:
                raise ValueError(f"options has {name!r}, which is an argument here: {_ARGUMENTS[name]}=...")
            allowed = "; ".join(f"{key!r} ({what})" for key, what in _OPTIONS.items())
            close = get_close_matches(str(name), _OPTIONS, 1)
            meant = f"; did you mean {close[0]!r}? Allowed" if close else "; allowed"
            raise ValueError(f"options has {name!r}{meant} are {allowed}.")
    checked = dict(options)
    for name in ("temperature", "checkpoint_every", "feasibility"):
        if name in options:
            checked[name] = number(f"options[{name!r}]", options[name], above=0.0)
    if "shadow" in options:
        checked["shadow"] = number('options["shadow"]', options["shadow"], at_least=0.0)
        if checked["shadow"] > 1.0:
            raise ValueError(f'options["shadow"] is {options["shadow"]}; wanted a share, from 0 to 1.')
    for name in ("width", "patience"):
        if name in options:
            checked[name] = whole_number(f"options[{name!r}]", options[name], 1)
    for name in ("check", "swap"):
        if not isinstance(options.get(name, True), bool):
            raise TypeError(f'options["{name}"] is {options[name]!r}; wanted True or False.')
    if options.get("order", "fixed") not in _ORDERS:
        raise ValueError(f'options["order"] is {options["order"]!r}; wanted "fixed" or "completion".')
    return checked
