"""Cost: time and memory of attention and recurrence as the text grows, measured.

mechanisms.py  what is measured, with the formulas      start here
setting.py     what stays the same while n grows
room.py        is there memory and time for it?
measurement.py run each at each length: seconds, bytes
peak.py        the most bytes of tensors alive at once
estimate.py    what a long text will take, by its beginning
result.py      the numbers, and the exponent fitted to them
chart.py, text.py, picture.py   the numbers to look at
"""
