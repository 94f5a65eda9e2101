"""Settings, all from the environment. Each file is one subject; `home` must come first."""

# ruff: noqa: F403, I001

from .home import *
from .site import *
from .stores import *
from .security import *
from .sign_on import *
from .work import *
from .judging import *
from .alerts import *
