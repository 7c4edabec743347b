import dataclasses
import json

import numpy as np
import pytest

from simpdm_frames.presets import PAPER_DATASETS, PRESETS, preset
from simpdm_frames.settings import Settings, choose_device

OUT_OF_RANGE = {
    "steps": [0, -1],
    "batch_size": [0],
    "learning_rate": [0.0, -1.0, 2.0, float("nan"), float("inf")],
    "weight_decay": [-0.1, 2.0],
    "decay": ["cosine"],
    "warmup": [-1],
    "average": [1.0, -0.1],
    "fits": [0, 1025],
    "members": [0, 1025],
    "scouts": [-1, 1025],
    "holdout": [0.0, 1.0],
    "look_every": [0],
    "patience": [0],
    "judging": ["apart", 1],
    "frequencies": [-1],
    "lowest_frequency": [0.0],
    "highest_frequency": [0.01],
    "smooth_frequency": [0.0],
    "scale": ["range"],
    "masking": ["odd"],
    "whole_share": [0.0, 1.5],
    "start": ["end"],
    "layers": [0, 65],
    "width": [0],
    "diffusion_steps": [0],
    "schedule": ["quadratic"],
    "mask_rate": [0.0, 1.0, -0.5],
    "alignment": ["l1"],
    "alignment_weight": [-1.0],
    "temperature": [0.0],
    "blur": [0.0],
    "augmentation": ["wild"],
    "p_gt": [-0.1],
    "p_pm": [-0.1],
    "p_ms": [float("nan")],
    "sampling_steps": [0, 11],
    "draws": [0],
    "chain": [-1, 65],
    "wave_width": [0],
    "ranks": [-0.1, 1.1],
    "neighbours": [-1],
    "likenesses": [0],
    "neighbour_steps": [0],
    "clusters": [-1],
    "processes": [-1, 16_385],
}


def test_every_setting_has_a_bound_that_is_tested():
    assert set(OUT_OF_RANGE) == {field.name for field in dataclasses.fields(Settings)}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in OUT_OF_RANGE.items() for v in values])
def test_values_out_of_range_are_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be .*got .*{value}"):
        Settings(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("steps", 1.5), ("layers", True), ("mask_rate", "0.3")])
def test_values_of_another_type_are_refused(name, value):
    with pytest.raises(TypeError, match=f"^{name} must be"):
        Settings(**{name: value})


def test_numpy_scalars_count_as_what_they_hold():
    settings = Settings(steps=np.int64(5), learning_rate=np.float64(0.25))
    assert (type(settings.steps), type(settings.learning_rate)) == (int, float)
    assert settings == Settings(steps=5, learning_rate=0.25)


def test_a_linear_schedule_needs_two_steps():
    with pytest.raises(ValueError, match="diffusion_steps must be from 2"):
        Settings(schedule="linear", diffusion_steps=1)


def test_strengths_must_be_in_the_order_of_certainty():
    with pytest.raises(ValueError, match="p_gt < p_pm < p_ms"):
        Settings(p_gt=0.9)
    assert Settings(augmentation="weak", p_gt=0.9).p_gt == 0.9


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().steps = 3


def test_override_changes_and_validates():
    assert Settings().override(steps=7).steps == 7
    with pytest.raises(ValueError, match="mask_rate"):
        Settings().override(mask_rate=2.0)


def test_an_unknown_setting_is_answered_with_the_nearest_name():
    with pytest.raises(TypeError, match="'lerning_rate'; did you mean 'learning_rate'"):
        Settings().override(lerning_rate=1.0)
    with pytest.raises(TypeError, match="known are fits, steps"):
        Settings().override(zzz=1)


def test_settings_survive_json():
    for options in [*(preset(name) for name in PRESETS), *PAPER_DATASETS.values()]:
        assert Settings(**json.loads(json.dumps(dataclasses.asdict(options)))) == options


def test_the_published_settings():
    rows = {
        "yacht": (30_000, 1e-4, 5, 256, 10, (1.0, 0.8, 0.001)),
        "yeast": (10_000, 1e-4, 3, 256, 3, (0.5, 0.4, 0.0001)),
        "wine_white": (30_000, 1e-4, 3, 1024, 0.2, (1.0, 0.8, 0.001)),
        "power": (30_000, 1e-4, 5, 1024, 1, (2.0, 1.5, 0.001)),
    }
    assert set(rows) == set(PAPER_DATASETS)
    for name, row in rows.items():
        s = preset("paper", dataset=name)
        strengths = (s.p_ms, s.p_pm, s.p_gt)
        assert (s.steps, s.learning_rate, s.layers, s.width, s.alignment_weight, strengths) == row
        common = (s.diffusion_steps, s.schedule, s.mask_rate, s.decay, s.batch_size, s.draws)
        assert common == (10, "cosine", 0.3, "linear", 4096, 1)


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine without a GPU, whatever this one has."""
    monkeypatch.setattr("torch.version.cuda", None)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_cpu_is_chosen_and_only_a_wish_complains():
    assert choose_device() == choose_device("auto") == choose_device(gpu=False) == ("cpu", "")
    assert choose_device(device="cpu") == ("cpu", "")
    for wish in (True, "require"):
        name, complaint = choose_device(wish)
        assert name == "cpu"
        assert "no CUDA" in complaint
    assert "Apple" in choose_device(device="mps")[1]
    assert "meta" in choose_device(device="meta")[1]


def test_a_gpu_is_taken_when_it_is_there(monkeypatch):
    monkeypatch.setattr("torch.version.cuda", "12.8")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert choose_device() == choose_device(gpu=True) == choose_device("require") == ("cuda", "")
    assert choose_device(gpu=False) == ("cpu", "")
    assert choose_device(device="cuda:1") == ("cuda:1", "")
    assert "finds 2" in choose_device(device="cuda:2")[1]
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "driver" in choose_device(device="cuda")[1]


def test_devices_that_are_none_are_refused():
    with pytest.raises(ValueError, match="gpu must be True, False"):
        choose_device("yes")
    with pytest.raises(ValueError, match="got 'gpu0'"):
        choose_device(device="gpu0")
    with pytest.raises(ValueError, match="not both"):
        choose_device(gpu=True, device="cpu")


def test_presets_are_looked_up_by_name():
    with pytest.raises(ValueError, match="'default', 'fast', 'best', 'paper', got 'papr'"):
        preset("papr")
    with pytest.raises(ValueError, match="not for 'iris'"):
        preset("paper", dataset="iris")
    with pytest.raises(ValueError, match="only the preset 'paper'"):
        preset("fast", dataset="yacht")


def test_more_is_paid_for_a_better_preset():
    prices = [preset(name) for name in ("fast", "default", "best")]
    works = [s.fits * s.steps * s.members * s.width * s.batch_size for s in prices]
    assert works == sorted(set(works))


def test_best_averages_fits_of_few_rows_which_remember_rows():
    assert preset("best", 3000).override(fits=1) == preset("default", 3000)
    assert preset("best", 3000).fits > preset("best", 3001).fits == preset("default").fits == 1
    kept = preset("best", 1000, remembering=False)
    assert kept.fits == 1
    assert kept.members > preset("best", 1000).members
    assert preset("default", 1000, remembering=False) == preset("default", 1000)


@pytest.mark.parametrize("name", ["fast", "default", "best"])
@pytest.mark.parametrize("n_rows", [2, 150, 1000, 10**6])
def test_the_rules_give_settings_for_tables_of_every_size(name, n_rows):
    settings = preset(name, n_rows, n_rows)
    assert settings.augmentation == "state"
    assert settings.alignment == "mse"
    assert settings.scouts < settings.members


def test_steps_are_fewer_where_each_costs_more():
    narrow, wide, tall = preset("default", 1000, 5), preset("default", 1000, 30), preset("default", 9000, 5)
    assert narrow.steps > wide.steps
    assert narrow.steps > tall.steps


def test_smooth_members_see_faster_waves_where_there_are_more_rows():
    smooth = [preset("default", n_rows).smooth_frequency for n_rows in (50, 150, 5000, 10**6)]
    assert smooth == sorted(smooth)
    assert smooth[0] < smooth[-1] < preset("default").highest_frequency
