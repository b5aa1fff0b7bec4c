"""The public names for type checkers; `__init__.py` has the same names for Python."""

from synthbench.auditing.audit import Audit as Audit
from synthbench.auditing.audit import audit as audit
from synthbench.dataset.dataset import DatasetDirectory as DatasetDirectory
from synthbench.dataset.manifest import Manifest as Manifest
from synthbench.errors import DatasetError as DatasetError
from synthbench.errors import ParameterError as ParameterError
from synthbench.errors import SynthbenchError as SynthbenchError
from synthbench.errors import UsageError as UsageError
from synthbench.evaluation.evaluate import evaluate as evaluate
from synthbench.evaluation.report import Report as Report
from synthbench.evaluation.single_rows import is_held_out as is_held_out
from synthbench.evaluation.single_rows import score as score
from synthbench.evaluation.single_rows import solve as solve
from synthbench.generation.generate import generate as generate
from synthbench.generation.load_dataset import load_dataset as load_dataset
from synthbench.probing.probe import probe as probe
from synthbench.sharing.export import export as export
from synthbench.sharing.push import push as push
from synthbench.streaming.accuracy_curve import curve as curve
from synthbench.streaming.columns import stream as stream
from synthbench.streaming.token_streams import tokens as tokens
from synthbench.tasks.base import Task as Task
from synthbench.tasks.registry import list_tasks as list_tasks
from synthbench.tasks.registry import register as register
from synthbench.tasks.registry import task as task
from synthbench.training.reproduce import reproduce as reproduce
from synthbench.training.train import train as train
from synthbench.verification.verify import VerificationReport as VerificationReport
from synthbench.verification.verify import verify as verify

__version__: str
