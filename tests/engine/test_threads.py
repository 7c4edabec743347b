"""The number of threads follows the pace of the steps, and is put back."""

import threading

import pytest
import torch

from simpdm_frames.engine.threads import Threads, finding_threads


class Machine:
    """Steps that take as long as a function of the number of threads says."""

    def __init__(self, most, pace):
        self.now, self.used, self.pace, self.tried = 0.0, most, pace, []
        self.threads = Threads(most, self.use, lambda: self.now)

    def use(self, number):
        self.used = number
        self.tried.append(number)

    def run(self, seconds):
        """Run for a while, and give the share of steps by the number of threads."""
        counts, until = {}, self.now + seconds
        while self.now < until:
            counts[self.used] = counts.get(self.used, 0) + 1
            self.now += self.pace(self.used)
            self.threads()
        total = sum(counts.values())
        return {number: count / total for number, count in counts.items()}


@pytest.mark.parametrize(
    ("most", "fastest"), [(2, 2), (2, 1), (16, 16), (16, 8), (16, 4), (16, 1), (6, 3), (12, 1)]
)
def test_the_fastest_number_is_found(most, fastest):
    machine = Machine(most, lambda number: 0.01 * (1 + abs(number - fastest)))
    machine.run(5)
    assert machine.run(60)[fastest] > 0.9


def test_a_machine_that_becomes_busy_gets_fewer_threads_and_more_when_it_is_free_again():
    busy = False
    machine = Machine(2, lambda number: 0.18 if busy and number == 2 else 0.018 / number)
    assert machine.run(30)[2] > 0.9
    busy = True
    machine.run(20)
    shares = machine.run(60)
    assert shares[1] > 0.9
    busy = False
    machine.run(20)
    assert machine.run(60)[2] > 0.9


def test_a_hopeless_number_is_given_up_early():
    machine = Machine(2, lambda number: 0.01 if number == 2 else 1.0)
    machine.run(1)  # nine more steps of a second would follow
    assert machine.now < 2
    assert machine.tried == [1, 2]


def test_a_single_long_step_changes_nothing():
    looks = iter(range(10**9))
    machine = Machine(2, lambda number: 0.02 / number + (0.05 if next(looks) % 10 == 3 else 0))
    assert machine.run(120)[2] > 0.9


def test_torch_is_left_as_it_was_and_one_training_at_a_time_chooses():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with finding_threads() as first:
            torch.set_num_threads(1)
            assert first is not None
            seen = []
            other = threading.Thread(target=lambda: seen.append(_told()))
            other.start()
            other.join()
            assert seen == [None]
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyError):
            _fail()
        assert torch.get_num_threads() == 2
        with finding_threads() as again:
            assert again is not None
    finally:
        torch.set_num_threads(before)


def _fail():
    with finding_threads():
        torch.set_num_threads(1)
        raise KeyError


def _told():
    with finding_threads() as told:
        return told
