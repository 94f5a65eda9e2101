"""The one catalogue of words for codes, in the language of the request. Who shows something asks here; nothing is
stored or compared by these words.
"""
