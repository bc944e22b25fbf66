"""The job's configuration: one YAML file, checked whole before anything starts."""

from pipeline.config.load import load_config
from pipeline.config.models import JobConfig, SourceConfig

__all__ = ["JobConfig", "SourceConfig", "load_config"]
