# Ends well and says nothing.
import sys

sys.exit(0)
