"""The work on one shard, stage by stage: functions that the Beam transforms wrap."""
