import torch

# Small matrices gain nothing from a second thread, and threads that wait for each other on a busy
# machine cost far more than they give.
torch.set_num_threads(1)
