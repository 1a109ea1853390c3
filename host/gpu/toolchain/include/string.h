// Of <string.h>, <stdio.h> and <stdlib.h> what the compiler knows anyway.
#pragma once

namespace std {
using ::free;
using ::malloc;
using ::memcpy;
using ::memset;
using ::printf;
}
