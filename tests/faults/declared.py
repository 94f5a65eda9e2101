"""Every fault of the tier, in the order in which they are made. A new one is one more declaration in its file."""

from tests.faults.answers import ANSWER_FAULTS
from tests.faults.fault import Fault
from tests.faults.processes import PROCESS_FAULTS
from tests.faults.storage import STORAGE_FAULTS
from tests.faults.visitors import VISITOR_FAULTS

FAULTS: tuple[Fault, ...] = (*PROCESS_FAULTS, *ANSWER_FAULTS, *STORAGE_FAULTS, *VISITOR_FAULTS)
