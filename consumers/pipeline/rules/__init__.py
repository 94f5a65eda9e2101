"""The rules by which a queue's state is judged, one small file per family; `order.py` puts them in order."""
