// The parts of <string.h>, <stdio.h> and <stdlib.h> that the compiler knows anyway.
#pragma once

namespace std {
using ::free;
using ::malloc;
using ::memcpy;
using ::memset;
using ::printf;
}
