"""Renderers. Each draws any Scene and knows no layout."""
