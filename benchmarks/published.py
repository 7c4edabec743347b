"""Figures printed in the paper, to stand beside ours."""

from __future__ import annotations

__all__ = ["COMPONENTS", "MEAN", "SIMPDM"]

# Table 1, RMSE and its ± by dataset.
SIMPDM = {
    "iris": (0.1083, 0.0087),
    "yacht": (0.2324, 0.0141),
    "housing": (0.1338, 0.0119),
    "diabetes": (0.2937, 0.0031),
    "blood": (0.1088, 0.0046),
    "energy": (0.2194, 0.0053),
    "german": (0.2889, 0.0194),
    "concrete": (0.1366, 0.0008),
    "yeast": (0.1107, 0.0010),
    "airfoil": (0.2024, 0.0046),
    "wine_red": (0.0873, 0.0016),
    "abalone": (0.1204, 0.0012),
    "wine_white": (0.0727, 0.0056),
    "phoneme": (0.1165, 0.0004),
    "power": (0.1320, 0.0009),
    "ecommerce": (0.3051, 0.0111),
    "california": (0.1056, 0.0006),
}
MEAN = {
    "iris": (0.2634, 0.0054),
    "yacht": (0.2970, 0.0072),
    "housing": (0.2471, 0.0140),
    "diabetes": (0.4595, 0.0134),
    "blood": (0.1654, 0.0036),
    "energy": (0.3535, 0.0019),
    "german": (0.3163, 0.0185),
    "concrete": (0.2255, 0.0017),
    "yeast": (0.1185, 0.0009),
    "airfoil": (0.2898, 0.0024),
    "wine_red": (0.1298, 0.0060),
    "abalone": (0.1952, 0.0011),
    "wine_white": (0.1051, 0.0087),
    "phoneme": (0.1622, 0.0007),
    "power": (0.1966, 0.0007),
    "ecommerce": (0.3193, 0.0066),
    "california": (0.1463, 0.0003),
}

# Table 2: base model, with alignment, with augmentation, with both.
COMPONENTS = {
    "yacht": {"base": 0.294, "+SA": 0.243, "+AUG": 0.241, "SimpDM": 0.232},
    "yeast": {"base": 0.149, "+SA": 0.118, "+AUG": 0.123, "SimpDM": 0.111},
    "wine_red": {"base": 0.100, "+SA": 0.091, "+AUG": 0.092, "SimpDM": 0.087},
}
