"""Reports in which a storage service lists a bucket, read in place of a listing."""
