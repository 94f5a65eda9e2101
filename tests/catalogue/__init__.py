"""The catalogue of translations, made and compiled without GNU gettext.

`python -m tests.catalogue` brings the .po up to date with the code and compiles the .mo; what lacks a translation is
printed. Strings come from the calls of gettext in Python and from the tags of templates.
"""
