"""Options: copied, checked one by one, and refused with what is allowed."""

import pytest

from allmodes.options import checked_options


def test_nothing_is_nothing_and_what_is_given_is_copied():
    assert checked_options(None) == {}
    given = {"width": 4, "shadow": 0.5, "order": "completion", "check": False}
    checked = checked_options(given)
    assert checked == given
    assert checked is not given


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([("width", 4)], TypeError, "wanted a dict"),
        ({"widht": 4}, ValueError, r"did you mean 'width'\? Allowed are 'feasibility'"),
        ({"colour": 4}, ValueError, "'colour'; allowed are"),
        ({"width": 0}, ValueError, "width"),
        ({"patience": 1.5}, TypeError, "patience"),
        ({"temperature": 0.0}, ValueError, "temperature"),
        ({"shadow": 1.5}, ValueError, "a share, from 0 to 1"),
        ({"check": 1}, TypeError, "True or False"),
        ({"order": "random"}, ValueError, '"fixed" or "completion"'),
    ],
)
def test_what_is_wrong_is_said(given, error, said):
    with pytest.raises(error, match=said):
        checked_options(given)
