"""The frame of the experiments: comparing, mapping, writing, the page, the command."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from allmodes import cli
from allmodes.reproduce import MODULES, experiment, runner
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS, NONE, Number, compare_share, mean_interval
from allmodes.reproduce.experiment import Context, Experiment, Outcome
from allmodes.reproduce.runner import How, reproduce, reproduce_all, source, write_page
from allmodes.reproduce.writing import facts_of, row, section


class TestIntervals:
    def test_students_interval_covers_the_mean_in_95_of_100_cases(self):
        rng = np.random.default_rng(0)
        draws = rng.binomial(10, 0.6, size=(4000, 30)) / 10
        inside = [low <= 0.6 <= high for _, low, high in map(mean_interval, draws)]
        error = np.sqrt(0.95 * 0.05 / 4000)
        assert abs(np.mean(inside) - 0.95) < 4 * error

    def test_equal_runs_leave_something_open(self):
        mean, low, high = mean_interval(np.ones(100))
        assert mean == 1.0
        assert high > 1.0 - 1e-12
        assert low == pytest.approx(1.0 - (1.0 - 0.025 ** (1 / 100)), abs=1e-9)

    def test_one_run_says_nearly_nothing(self):
        _, low, _ = mean_interval(np.array([1.0]))
        assert low < 0.1


class TestVerdicts:
    runs = np.repeat([0.0, 1.0], [10, 90])

    @pytest.mark.parametrize(("published", "verdict"), [(0.92, AGREE), (0.7, BETTER), (0.999, DIFFERS)])
    def test_by_the_errors_of_both(self, published, verdict):
        assert compare_share("x", self.runs, published, reason="r").verdict == verdict

    def test_where_less_is_better(self):
        assert compare_share("x", self.runs, 0.7, higher_is_better=False, reason="r").verdict == DIFFERS

    def test_a_claim_in_words_is_a_lower_bound(self):
        number = compare_share("x", np.ones(50), 0.95, claim="almost always")
        assert (number.verdict, number.published) == (AGREE, "almost always")

    def test_nothing_published_no_verdict(self):
        assert compare_share("x", self.runs, None).verdict == NONE

    def test_too_few_runs_decide_nothing(self):
        assert compare_share("x", np.array([0.0, 1.0]), 0.5).verdict == NONE

    def test_what_differs_needs_a_reason(self):
        with pytest.raises(ValueError, match="needs a reason"):
            Number("x", "1", 0.0, 0.0, 0.0, 1, DIFFERS)

    def test_unknown_verdicts_are_refused(self):
        with pytest.raises(ValueError, match="'fine'"):
            Number("x", "1", 0.0, 0.0, 0.0, 1, "fine")


def draw_number(scale, rng):
    return scale * rng.standard_normal()


def run_toy(context: Context) -> Outcome:
    values = np.array(context.map(draw_number, [(1.0,)] * context.runs, "toy"))
    numbers = [compare_share("share above | zero", values > 0, 0.5, reason="chance")]
    return Outcome(numbers, [{"value": value} for value in values], "What it is.")


def draw_toy(figure, outcome):
    figure.add_subplot().plot([r["value"] for r in outcome.table])


TOY = Experiment("toy", "a toy", ("fig:toy",), 40, run_toy, draw_toy)


class TestContext:
    def test_the_number_of_workers_changes_nothing(self):
        alone = Context({}, 5, seed=3).map(draw_number, [(1.0,)] * 5)
        both = Context({}, 5, seed=3, workers=2).map(draw_number, [(1.0,)] * 5)
        assert alone == both
        assert len(set(alone)) == 5

    def test_another_seed_is_another_run(self):
        jobs = [(1.0,)] * 3
        assert Context({}, 3, seed=3).map(draw_number, jobs) != Context({}, 3, seed=4).map(draw_number, jobs)

    def test_progress_is_reported_job_by_job(self):
        seen = []
        Context({}, 3, report=lambda *told: seen.append(told)).map(draw_number, [(1.0,)] * 3, "toy")
        assert seen == [(0, 3, "toy"), (1, 3, "toy"), (2, 3, "toy"), (3, 3, "toy")]


@pytest.fixture
def toy(monkeypatch):
    """The toy takes the place of all experiments."""
    monkeypatch.setattr(runner, "MODULES", {"toy": "toy"})
    fake = replace(TOY)
    monkeypatch.setattr(Experiment, "settings", property(lambda self: {}))
    monkeypatch.setattr(runner, "experiment", lambda name: fake)
    return fake


class TestWriting:
    def test_all_four_files(self, toy, tmp_path):
        reproduce("toy", tmp_path, How(runs=30, seed=1))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.csv", "toy.json", "toy.md", "toy.png"]
        assert len((tmp_path / "toy.csv").read_text().splitlines()) == 31
        assert (tmp_path / "toy.png").read_bytes().startswith(b"\x89PNG")
        text = (tmp_path / "toy.md").read_text()
        assert "`allmodes reproduce toy --runs 30 --seed 1`" in text
        assert source() in text
        assert "share above \\| zero" in text  # a bar would end the cell
        facts = json.loads((tmp_path / "toy.json").read_text())
        assert facts["numbers"][0]["runs"] == 30

    def test_the_page_counts_verdicts_and_links_pictures(self, toy, tmp_path):
        page = reproduce_all(tmp_path, How(), names=["toy"])
        text = page.read_text()
        assert "| [toy](#toy) | a toy | 1 | 0 | 0 | 0 |" in text
        assert "(reproduction/toy.png)" in text
        written = sorted(path.name for path in (tmp_path / "reproduction").iterdir())
        assert written == ["toy.csv", "toy.json", "toy.png"]  # the page has the text

    def test_keep_does_not_run_again(self, toy, tmp_path):
        reproduce_all(tmp_path, How(), names=["toy"])
        written = tmp_path / "reproduction" / "toy.json"
        before = written.stat().st_mtime_ns
        reproduce_all(tmp_path, How(), keep=True, names=["toy"])
        assert written.stat().st_mtime_ns == before
        reproduce_all(tmp_path, How(), names=["toy"])
        assert written.stat().st_mtime_ns > before

    def test_a_number_without_interval(self):
        assert "nan" not in row(Number("x", "1", 1.0, np.nan, np.nan, 3, AGREE))

    def test_a_section_says_where_in_the_paper(self):
        assert "`fig:toy`" in section(facts_of(TOY, Outcome([], [], "text")))

    def test_missing_packages_are_named_before_anything_runs(self):
        with pytest.raises(ImportError, match=r"toy needs no_such_package.*allmodes\[reproduce\]"):
            runner.check_needs(replace(TOY, needs=("no_such_package",)))

    def test_a_page_without_experiments_is_a_page(self, tmp_path):
        assert write_page(tmp_path).read_text().startswith("# ")

    def test_the_page_of_the_documentation_is_what_its_files_say(self, tmp_path):
        """`allmodes reproduce all --keep --out docs` writes it anew; it names the versions it was written with."""
        docs = Path(__file__).parents[2] / "docs"
        shutil.copytree(docs / "reproduction", tmp_path / "reproduction", ignore=shutil.ignore_patterns("*.png"))
        shown, written = (
            re.sub(r" NumPy \S+, SciPy \S+\.\n", "\n", path.read_text(encoding="utf-8"))
            for path in (docs / "reproduction.md", write_page(tmp_path))
        )
        assert shown == written
        assert {path.suffix for path in (docs / "reproduction").iterdir()} == {".csv", ".json", ".png"}


class TestEveryExperiment:
    @pytest.mark.parametrize("name", MODULES)
    def test_has_settings_published_numbers_and_labels_of_the_paper(self, name):
        found = experiment(name)
        labels = (Path(__file__).parent / "paper_labels.txt").read_text().split()
        assert found.name == name
        assert found.settings
        assert found.runs >= 1
        assert set(found.labels) <= set(labels)
        assert len(found.title) <= 46  # the list fits 80 columns

    def test_unknown_names_are_answered_with_the_known_ones(self):
        with pytest.raises(ValueError, match=r"no experiment 'mode'; there are .*mode-sym"):
            experiment("mode")


class TestCommand:
    def test_lists_experiments_in_80_columns(self):
        shown = CliRunner().invoke(cli.main, ["reproduce"])
        assert shown.exit_code == 0
        assert all(name in shown.output for name in MODULES)
        assert max(map(len, shown.output.splitlines())) <= 80

    def test_runs_one_and_shows_it(self, tmp_path):
        shown = CliRunner().invoke(cli.main, ["reproduce", "weight-asym", "--runs", "2", "--out", str(tmp_path)])
        assert shown.exit_code == 0, shown.output
        assert "published tends to 0.586" in shown.output or "share of runs" in shown.output
        assert (tmp_path / "weight-asym.png").exists()

    @pytest.mark.parametrize(
        ("given", "told"),
        [(["nothing"], "no experiment 'nothing'"), (["all", "--workers", "0"], "--workers is 0"),
         (["all", "--runs", "0"], "--runs")],
    )  # fmt: skip
    def test_wrong_arguments_are_explained(self, given, told):
        shown = CliRunner().invoke(cli.main, ["reproduce", *given])
        assert shown.exit_code == 2
        assert told in shown.output

    def test_version(self):
        import allmodes

        assert allmodes.__version__ in CliRunner().invoke(cli.main, ["--version"]).output

    def test_ctrl_c_ends_with_130(self, monkeypatch):
        def interrupted(*given, **named):
            raise KeyboardInterrupt

        monkeypatch.setattr(runner, "reproduce", interrupted)
        shown = CliRunner().invoke(cli.main, ["reproduce", "weight-asym"])
        assert shown.exit_code == 130
