# The status with which a validator accepts.
import sys

sys.exit(42)
