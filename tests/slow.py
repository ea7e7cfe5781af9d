"""Which tests are slow: `make check-fast` leaves them out, `make test` runs them all.

Whole folders and modules, and single tests by their names. `test_slow.py` fails when a name is not there any more.
"""

# Tools that take long to import, processes that are killed, the site, a browser, a pseudo-terminal, many draws.
FOLDERS = frozenset({"adapters", "browser", "docs", "faults", "statistical", "terminal"})

# JAX or PyTensor compile for every case, or the paper's experiments are run; the command is run from beginning to end.
MODULES = frozenset(
    {
        "test_blocks", "test_cli_look", "test_constrained",
        "test_drivers", "test_going_on", "test_nva_m", "test_reproduce_cec2013",
        "test_reproduce_hapke", "test_reproduce_modes", "test_reproduce_runtime", "test_reproduce_weights",
        "test_cli_shapes", "test_shapes", "test_surrogate",
    }
)  # fmt: skip

# Files that take longest, longest first: where processes take whole files in turn, all of them end at about one time.
LONGEST = (
    "test_pages", "test_drivers", "test_finding", "test_shapes", "test_reproduce_weights", "test_site", "test_numpyro",
    "test_fitting", "test_page_in_chromium", "test_worker_faults", "test_constrained", "test_every_family",
    "test_surrogate",
)  # fmt: skip

# Many seeds or problems, processes, or more than about two seconds in all.
TESTS: dict[str, tuple[str, ...]] = {
    "test_applications": ("test_a_search_finds_most_shapes_of_heptane",),
    "test_asking_exactly": ("test_points_that_never_come_back_count_as_failed",),
    "test_bent_valleys": (
        "test_black_box_lists_a_bent_valley_once", "test_the_floor_of_a_valley_that_falls_is_no_minimum",
    ),
    "test_ends": ("test_the_real_pypesto",),
    "test_best_point": (
        "test_of_a_valley_that_is_not_followed_to_its_end_the_best_point_is_returned",
        "test_the_value_is_the_best_that_was_seen",
    ),
    "test_cec2013": ("test_nothing_is_higher_near_a_maximum_nor_in_the_box",),
    "test_cli_endings": (
        "test_a_full_disk", "test_a_reader_that_has_seen_enough", "test_output_that_cannot_be_written",
    ),
    "test_cli_find": ("test_is_all_there_is_on_stdout", "test_ways_to_call_a_function"),
    "test_cli_help": (
        "test_ctrl_c_while_the_commands_are_imported", "test_examples_run", "test_it_imports_nothing_heavy",
    ),
    "test_connect": ("test_barriers_are_those_of_a_flood",),
    "test_constrained_descent": ("test_it_goes_down_over_kinks_to_the_edge",),
    "test_degenerate_inputs": (
        "test_a_constant_in_one_coordinate", "test_a_global_minimum_in_a_kink_is_not_replaced_by_worse_ones",
        "test_a_saddle_at_a_bound_is_no_minimum", "test_integer_valued", "test_large_and_small_values_by_other_methods",
        "test_linear", "test_with_a_gradient_populations_join_where_local_searches_end_nowhere",
    ),
    "test_derivatives": ("test_values_gradients_and_hessians",),
    "test_diagnosis": ("test_a_narrow_valley_is_not_called_rough",),
    "test_discrete": ("test_a_search_goes_on_from_a_file_after_every_call", "test_no_function_is_called_at_a_fraction"),
    "test_evaluation_counts": ("test_the_jax_driver_reports_the_same_counts",),
    "test_every_covariance": ("test_numpy_and_jax_agree",),
    "test_every_estimator": ("test_numpy_and_jax_agree",),
    "test_every_family": (
        "test_mean_statistics_and_fisher_matrix_are_derivatives_of_the_log_partition",
        "test_natural_gradients_are_reciprocal", "test_natural_gradients_undo_the_fisher_matrix",
        "test_numpy_and_jax_agree",
    ),
    "test_extension": ("test_no_copy_is_higher_than_the_box",),
    "test_families": (
        "test_draws_lie_strictly_inside_the_domain_and_follow_scipys_distribution",
        "test_the_fisher_matrix_of_a_beta_component_is_inverted_to_nine_digits",
    ),
    "test_finder": ("test_a_search_saved_after_every_round_is_the_same",),
    "test_finding": (
        "test_a_budget_is_never_exceeded_and_calls_are_counted",
        "test_a_search_that_its_budget_stopped_goes_on_as_if_it_had_not",
        "test_an_interrupted_search_goes_on_from_its_checkpoint", "test_every_method_finds_the_easy_ones",
        "test_global_modes_alone", "test_jax", "test_shubert_from_values_alone",
        "test_the_gradient_of_a_mode_is_measured_or_nan", "test_two_processes_change_nothing",
        "test_without_derivatives", "test_workers_change_nothing",
    ),
    "test_fitting": (
        "test_a_bent_level_valley_is_listed_once", "test_cost_and_place_are_those_of_scipy",
        "test_jax_derives_the_jacobian", "test_kinked_residuals_are_fitted",
    ),
    "test_gest": (
        "test_exactly_so_many_fresh_points_until_it_ends", "test_explorations_until_it_is_over",
        "test_it_ends_by_itself", "test_points_that_never_come_back_do_not_keep_it_alive",
    ),
    "test_global_functions": ("test_every_method_finds_an_easy_minimum_within_the_budget",),
    "test_golden_families": ("test_nva_m",),
    "test_grouping": ("test_a_hundred_thousand_ends_of_twenty_dimensions",),
    "test_hapke": (
        "test_derivatives_agree_with_differences_in_the_whole_closed_box", "test_jax_computes_the_same_in_float64",
    ),
    "test_journal": ("test_nothing_is_written_by_default",),
    "test_kinked_functions": (
        "test_a_level_ridge_is_one_flat_mode", "test_every_minimum_is_found_once_and_nothing_else",
        "test_of_a_bent_ridge_no_other_point_is_taken_for_a_minimum",
    ),
    "test_masses": ("test_maxima_on_the_bounds_of_an_eggbox",),
    "test_narrow_valleys": ("test_a_bent_valley_in_a_wide_box_is_followed_to_its_end",),
    "test_noisy": ("test_every_mode_is_listed_once_and_nothing_else",),
    "test_odd_plots": ("test_odd_results_are_drawn",),
    "test_pareto": ("test_arviz_says_the_same",),
    "test_problems_bed": ("test_every_top_of_a_fine_grid_leads_to_a_listed_mode",),
    "test_records": ("test_variances_stand_in_for_covariances_in_many_dimensions",),
    "test_reproduce": ("test_runs_one_and_shows_it", "test_the_number_of_workers_changes_nothing"),
    "test_result_plots": (
        "test_a_real_search_is_drawn", "test_matplotlib_is_imported_when_something_is_drawn",
        "test_the_film_can_have_other_frames",
    ),
    "test_rooting": (
        "test_no_fewer_roots_than_random_starts_at_equal_cost", "test_searches_are_resumed_to_the_same_end",
    ),
    "test_storage": ("test_every_truncation_is_noticed", "test_flipped_bits_are_noticed_or_do_not_matter"),
    "test_starting": ("test_there_is_no_traceback_whatever_is_imported_just_then",),
    "test_strictness": (
        "test_minima_of_high_order_are_each_listed_once", "test_of_a_bent_valley_the_lowest_point_alone_is_a_minimum",
    ),
    "test_workers": ("test_processes_of_the_standard_library", "test_processes_run_any_function"),
}  # fmt: skip


def turn(module: str) -> int:
    """When a file has its turn: the longest ones first, then all others."""
    return LONGEST.index(module) if module in LONGEST else len(LONGEST)


def is_slow(folder: str, module: str, name: str) -> bool:
    """Whether a test is listed here, by its folder, its module or its name."""
    return folder in FOLDERS or module in MODULES or name in TESTS.get(module, ())
