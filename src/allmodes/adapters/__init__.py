"""Every good optimum where people already work: thin files, one for each tool, each imported when it is asked for.

`from allmodes.adapters import pymc` needs `pip install allmodes[pymc]`, and likewise for the others.
"""
