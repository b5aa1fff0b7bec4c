"""Hides PyTorch from every process that starts with this folder on its path.

`pytest --without-torch` puts the folder there, and imports this module into its own process.
"""

from importlib.machinery import PathFinder

#: PyTorch, and a library that cannot be imported without it.
HIDDEN = {"torch", "torchvision"}

_find_spec = PathFinder.find_spec


def _find_others(cls, name, path=None, target=None):
    return None if name.partition(".")[0] in HIDDEN else _find_spec(name, path, target)


# A class method, as it was: pytest keeps it as an attribute of another class.
PathFinder.find_spec = classmethod(_find_others)
