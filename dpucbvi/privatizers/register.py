"""The privatizers by name; each file here ends in its entry."""

from dpucbvi.protocol import Privatizer
from dpucbvi.registry import Registry

PRIVATIZERS: Registry[type[Privatizer]] = Registry("privatizer.name")
