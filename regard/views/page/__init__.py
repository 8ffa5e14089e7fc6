"""The page: attention in one HTML file that opens from disk, with no network and no server.

The file carries queries, keys and values, and its JavaScript (``script/``, plain ES modules put
into one) computes every weight that it draws.

maps.py, traces.py   an attention map or a trace as a subject of the page
data.py, pack.py     subjects as the page's JSON, arrays packed
inline.py, file.py   script, style and data as one HTML file
frame.py             the page inside a notebook
"""

from regard.pieces.sheet import Sheet, Subject
from regard.views.page.file import page_html, save_html
from regard.views.page.maps import subject_of_map
from regard.views.page.traces import subject_of_trace

__all__ = [
    "Sheet",
    "Subject",
    "page_html",
    "save_html",
    "subject_of_map",
    "subject_of_trace",
]
