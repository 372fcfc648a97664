"""How far apart colours look: CIEDE2000, and what the three common colour-vision deficiencies make of a colour."""
import numpy as np

# Machado, Oliveira, Fernandes 2009, severity 1: what each deficiency makes of linear RGB
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])


def linear(color: str) -> np.ndarray:
    """Linear RGB of "#rrggbb"."""
    channel = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB (D65) of linear RGB."""
    xyz = _XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, two: np.ndarray) -> float:
    """The CIEDE2000 difference of two CIELAB colours (Sharma, Wu, Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    chroma, hue = (c1 + c2) / 2, (h1 + h2 if c1 * c2 == 0 else h1 + ((h2 - h1 + 180) % 360 - 180) / 2) % 360
    cos = [np.cos(np.radians(angle)) for angle in (hue - 30, 2 * hue, 3 * hue + 6, 4 * hue - 63)]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.20 * cos[3]
    light = ((l1 + l2) / 2 - 50) ** 2
    parts = ((l2 - l1) / (1 + 0.015 * light / np.sqrt(20 + light)), (c2 - c1) / (1 + 0.045 * chroma),
             2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return float(np.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2]))


def apart(one: str, two: str) -> float:
    """The least CIEDE2000 difference of two colours, over normal vision and the three deficiencies."""
    seen = [np.eye(3), *map(np.array, DEFICIENCIES.values())]
    return min(ciede2000(lab(eye @ linear(one)), lab(eye @ linear(two))) for eye in seen)
