import platform
import subprocess
import sys

import pytest

# A process of its own: what others have freed before would be kept already.
CODE = """
import resource
import torch
from simpdm_frames.engine.memory import keep_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def step():
    parts = [torch.zeros(2**20) for _ in range(4)]
    parts += [part + 1 for part in parts]

keep_memory()
step()
before = faults()
for _ in range(10):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of the GNU library")
def test_steps_use_the_same_memory_again():
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    pages = 10 * 8 * 2**20 * 4 // 4096  # of ten steps
    assert int(ran.stdout) < pages / 20
