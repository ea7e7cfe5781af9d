"""Which steps of trust-region searches are taken, and how far the next ones may go."""

import numpy as np

from allmodes.search.searchers.local import steps


def test_a_trust_region_grows_where_the_model_predicts_well_up_to_the_longest():
    """And beyond as far as the model reaches, if it was followed to the end of the trust region."""
    radius, reach = np.array([0.02, 0.04, 0.2, 0.06, 0.06, 0.06]), np.array([0.0, 0.0, 0.0, 0.1, 1.0, 1.0])
    length, told = np.array([0.02, 0.04, 0.2, 0.06, 0.06, 0.04]), np.ones(6)
    grown = steps.resized(radius, told, told, length, np.full(6, 0.07), reach)
    np.testing.assert_allclose(grown, [0.05, 0.07, 0.07, 0.1, 0.15, 0.06])


def test_what_a_model_missed_is_a_share_of_the_rise_and_everything_where_the_point_failed():
    g, M, s = np.ones((4, 2)), np.zeros((4, 2, 2)), np.full((4, 2), 0.5)
    slope = np.array([[1.0, 1.0], [1.0, 0.8], [np.nan, 1.0], [1.0, 1.0]])
    missed = steps.missed_share(g, M, s, np.array([1.05, 1.0, 1.0, -np.inf]), slope)
    np.testing.assert_allclose(missed, [0.05, 0.1, np.inf, np.inf])
