"""Cost: time and memory of attention and recurrence as the text grows, measured.

mechanisms.py  what is measured, with the formulas      start here
measurement.py run each at each length: seconds, bytes
peak.py        the most bytes of tensors alive at once
room.py        is there memory and time for it?
result.py      the numbers, and the exponent fitted to them
chart.py, text.py, picture.py   the numbers to look at
"""

from regard.cost.measurement import measure
from regard.cost.mechanisms import MECHANISMS, Mechanism, Setting
from regard.cost.peak import PeakMemory, peak_bytes
from regard.cost.result import Cost, Costs, exponent

__all__ = [
    "MECHANISMS",
    "Cost",
    "Costs",
    "Mechanism",
    "PeakMemory",
    "Setting",
    "exponent",
    "measure",
    "peak_bytes",
]
