// runtime.cpp - the emulator's runtime, one object that is linked into every kernel library. The parts share static
// state and are included in order of dependence.
#include "runtime.h"
#include <atomic>
#include <link.h>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <type_traits>
#include <ucontext.h>
#include <vector>
using namespace msl;
#include "report.h"
#include "schedule.h"
#include "shadow.h"
#include "sanitizer.h"
#include "arguments.h"
#include "fault.h"
#include "module.h"
#include "dispatch.h"
#include "signature.h"
