"""Pictures of layouts, one a file. Each builds a Scene and knows no backend."""
