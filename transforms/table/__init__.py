"""The table on storage: schema, layout, manifest, reading and publishing of snapshots."""
