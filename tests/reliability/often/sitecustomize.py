"""Checkpoints five times a second: Python imports this at its start if it is on its path, in workers too."""

import sys
from importlib.machinery import ModuleSpec, PathFinder


class Often:
    @staticmethod
    def find_spec(name, path=None, target=None) -> ModuleSpec | None:
        if name != "dpucbvi.engine.fast":
            return None
        spec = PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def then_often(module):
            execute(module)
            module.CHECKPOINT_SECONDS = 0.2

        spec.loader.exec_module = then_often
        return spec


sys.meta_path.insert(0, Often)
