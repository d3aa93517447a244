#pragma once

// By this file clients' configure scripts know a folder as that of a conduit. There is one, whatever carries the job.

#include <gasnet.h>
