"""Families of component distributions: one small file each."""

from allmodes.nva.mixture.families.bernoulli import Bernoulli
from allmodes.nva.mixture.families.beta import Beta
from allmodes.nva.mixture.families.exponential_family import ExponentialFamily
from allmodes.nva.mixture.families.family import Family
from allmodes.nva.mixture.families.gamma import Gamma
from allmodes.nva.mixture.families.gaussian import Gaussian
from allmodes.nva.mixture.families.product import Product
from allmodes.nva.mixture.families.von_mises import VonMises

__all__ = ["Bernoulli", "Beta", "ExponentialFamily", "Family", "Gamma", "Gaussian", "Product", "VonMises"]
