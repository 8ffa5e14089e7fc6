"""Make the pictures of the docs that no command makes: ``python docs/make_images.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from regard.vectors.positions import sinusoidal

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
image = axes.imshow(sinusoidal(100, 64), cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
axes.set_xlabel("dimension: sine on even, cosine on odd ones; slower to the right")
axes.set_ylabel("position")
axes.set_title("Sinusoidal positions: 100 positions, width 64")
figure.colorbar(image, label="added to the embedding")
figure.savefig(Path(__file__).parent / "images" / "positions.png", dpi=110)
