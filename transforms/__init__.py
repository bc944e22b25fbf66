"""Turn objects into chunk tables: Beam stages over Beam-free functions.

The modules at this level are thin Beam transforms, one per stage of the job. The subpackages hold
the logic and import no Beam. Importing this package imports nothing else.
"""
