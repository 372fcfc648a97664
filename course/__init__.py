"""The chapters' single source, the builder that makes notebooks of them, and what `make lab` runs."""
