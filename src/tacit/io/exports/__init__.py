"""Publications as files: one module per format, each made of what readers may see alone.

`write_published` chooses the format by the name of the file.
"""

from tacit.io.exports.choice import SUFFIXES, Presentation, write_published
from tacit.io.exports.csv_file import write_csv
from tacit.io.exports.excel_file import write_excel, write_pivot_excel
from tacit.io.exports.html_file import write_html
from tacit.io.exports.jj_file import write_reader_jj
from tacit.io.exports.parquet_file import write_parquet

__all__ = [
    "SUFFIXES",
    "Presentation",
    "write_csv",
    "write_excel",
    "write_html",
    "write_parquet",
    "write_pivot_excel",
    "write_published",
    "write_reader_jj",
]
