"""Families of component distributions: one small file each."""

from allmodes.mixture.families.bernoulli import Bernoulli
from allmodes.mixture.families.beta import Beta
from allmodes.mixture.families.family import Family
from allmodes.mixture.families.gamma import Gamma
from allmodes.mixture.families.gaussian import Gaussian
from allmodes.mixture.families.product import Product
from allmodes.mixture.families.von_mises import VonMises

__all__ = ["Bernoulli", "Beta", "Family", "Gamma", "Gaussian", "Product", "VonMises"]
