"""Live pictures: the Board and the explorer made of it and ipywidgets sliders."""
