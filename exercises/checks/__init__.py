"""The exercises themselves, one module a chapter: `ch01.EXERCISES` holds those of chapter 01 by id."""
