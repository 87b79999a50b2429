"""Runs a notebook from its first cell to its last, and prints what its cells show: python3 notebook.py FILE."""

import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(output.get("data", {}).get("text/plain", output.get("text", "")))
