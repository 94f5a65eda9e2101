"""What a page with a chart may load beyond the site's policy: exactly what plotly.js needs to style its drawing."""

from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update

# plotly.js sets style attributes and adds two style elements when it loads: one that it fills rule by rule and so
# begins empty, and the sheet of its maps. The hashes are those of their texts; a test computes them anew.
EMPTY_SHEET = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
MAP_SHEET = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"

DIRECTIVES: dict[str, Any] = {
    "style-src-elem": [SELF, EMPTY_SHEET, MAP_SHEET],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["blob:"],
}
with_charts = csp_update(DIRECTIVES)
