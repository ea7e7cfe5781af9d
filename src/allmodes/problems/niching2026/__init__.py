"""The suite of the niching competition of CEC 2026: 16 problems, 15 instances of each, in any number of dimensions.

The formulas are those of the competition's platform (A. Ahrari, 2026), as participants have published it. Its technical
report (Ahrari, Fieldsend, Preuss, Li and Epitropakis: Experimental setup for CEC 2026 competition on benchmarking
niching methods for multimodal optimization, CIS-TF-MMO-TR-2026-001) was not to be had, nor was the platform's table of
permutations. Assumed is therefore:

- The permutations are made as the platform says, from the seed 2. Checked: the function values of the 960 files that a
  participant submitted are reproduced for all problems, instances and dimensions.
- The score is that of two participants' programs: tolerances from 1e-5 to 1 for the robust peak ratio, its product with
  the number of minima over that of reported points as the precision, and the mean of the ratio and F1.
"""

from allmodes.problems.niching2026.layout import INSTANCES
from allmodes.problems.niching2026.scores import f1_score, final_score, robust_peak_ratio
from allmodes.problems.niching2026.suite import DIMENSIONS, PROBLEMS, CompositeProblem, niching2026

__all__ = [
    "DIMENSIONS",
    "INSTANCES",
    "PROBLEMS",
    "CompositeProblem",
    "f1_score",
    "final_score",
    "niching2026",
    "robust_peak_ratio",
]
