import pytest
import torch
from libraries import LIBRARIES

# Small matrices gain nothing from a second thread, and threads that wait for each other on a busy
# machine cost far more than they give.
torch.set_num_threads(1)


@pytest.fixture(params=LIBRARIES, ids=[library.name for library in LIBRARIES])
def library(request):
    """Run a test once for each library."""
    return request.param
