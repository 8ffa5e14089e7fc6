"""Real models: observe the attention of a running model without changing what it computes."""

from regard.pretrained.layer import Layer
from regard.pretrained.observation import Observation
from regard.pretrained.observe import observe

__all__ = ["Layer", "Observation", "observe"]
