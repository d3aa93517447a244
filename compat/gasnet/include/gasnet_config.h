#pragma once

// The release of GASNet-EX whose interface this is. A file of its own, because clients' configure scripts read it here.

#define GASNET_RELEASE_VERSION_MAJOR 2025
#define GASNET_RELEASE_VERSION_MINOR 8
#define GASNET_RELEASE_VERSION_PATCH 0
