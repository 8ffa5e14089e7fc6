"""Real models: find and fetch them, observe their attention without changing what they compute."""

from regard.pretrained.find import Found, find
from regard.pretrained.layer import Layer
from regard.pretrained.observation import Observation
from regard.pretrained.observe import observe
from regard.pretrained.pinned import fetch

__all__ = ["Found", "Layer", "Observation", "fetch", "find", "observe"]
