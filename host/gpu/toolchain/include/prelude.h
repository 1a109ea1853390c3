// The declarations that nvcc includes before the first line of a source, and this compiler does not.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
