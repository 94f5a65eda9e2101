"""One evaluation: what is measured is compared with open incidents; changes and the messages that tell them are
written in one transaction.
"""
