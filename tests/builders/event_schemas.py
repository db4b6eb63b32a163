"""The JSON Schema of each event, made once for all tests that only read it."""

from functools import cache

from schemas import json_schema

schema_of = cache(json_schema.schema_of)
