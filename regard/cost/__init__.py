"""Cost: time and memory of attention and recurrence as the text grows, measured.

mechanisms.py  what is measured, with the formulas      start here
setting.py     what stays the same while n grows
room.py        is there memory and time for it?
measurement.py run each at each length: seconds, bytes
peak.py        the most bytes of tensors alive at once
estimate.py    what a long text will take, by its beginning
result.py      the numbers, and the exponent fitted to them
report.py      the numbers as a page of text (chart.py, units.py), or as a picture (picture.py)
"""
