"""Run an experiment, draw its figure, print its table: python experiments/run.py +exp=riverswim (or --help).

With --certify it prints what the runs would certify, and runs nothing.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from dpucbvi.lab.command_line import as_hydra_wants, changes, check_flags, is_bad_input, one_line, own_name
from dpucbvi.lab.config_store import offer_environments

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
certify = False  # --certify was given


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def run(config: DictConfig) -> None:
    """Check everything, run what is not stored, draw, print."""
    from dpucbvi.errors import LpError  # these are slow to import: --help and --cfg do without
    from dpucbvi.lab.certify import certified
    from dpucbvi.lab.experiment import check_effect, experiment_from
    from dpucbvi.lab.results import write_csv
    from dpucbvi.lab.runner import WorkerDied, run_experiment
    from dpucbvi.lab.store import Store
    from dpucbvi.studies import draw, names, table
    from dpucbvi.studies.shared.files import aligned
    from dpucbvi.studies.shared.printed import printed_curves

    try:
        start = perf_counter()
        overrides = HydraConfig.get().overrides.task
        changed = changes(overrides)
        named = _with_own_name(config, changed)
        experiment = experiment_from(named, ROOT, names(), printed_curves(), changed)
        check_effect(overrides, experiment)
        if certify:
            print(aligned(certified(experiment)))
            return
        tally = run_experiment(experiment)
        stored = Store(experiment.results).load_experiment(experiment.name)
        files = draw(stored, experiment.figures)
        print(f"{experiment.name}: {tally}, {perf_counter() - start:.0f} s\n\n{table(stored)}\n")
        print(f"figure  {' and '.join(map(str, files))}\ntable   {write_csv(stored, experiment.results)}")
    except (WorkerDied, LpError) as error:
        stop(str(error), 1)
    except Exception as error:
        stop_if_bad_input(error)  # here, or Hydra would say a line of its own
        raise


def main() -> None:
    """Every bad input ends in one line and exit code 2, Ctrl-C in one line and 130."""
    global certify
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises its errors instead of printing them
    if certify := "--certify" in sys.argv:
        sys.argv.remove("--certify")  # Hydra knows no flags but its own
    sys.argv = [as_hydra_wants(argument) for argument in sys.argv]
    try:
        check_flags()
        offer_environments(CONF)
        with tempfile.TemporaryDirectory() as scratch:
            OmegaConf.register_new_resolver("scratch", lambda: scratch, replace=True)
            run()
    except Exception as error:
        stop_if_bad_input(error)
        raise
    except KeyboardInterrupt:
        stop("interrupted; finished runs are stored, run again to go on", 130)


def stop_if_bad_input(error: Exception) -> None:
    if is_bad_input(error):
        stop(one_line(error), 2)


def stop(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def _with_own_name(config: DictConfig, changed: tuple[str, ...]) -> DictConfig:
    """A changed experiment gets a name of its own, and in a multirun a number: none overwrites another."""
    job = HydraConfig.get()
    if not any(override.startswith("name=") for override in job.overrides.task):
        config.name = own_name(config.name, changed)
        if job.mode == hydra.types.RunMode.MULTIRUN:
            config.name = f"{config.name}-{job.job.num}"
    return config


if __name__ == "__main__":
    main()
