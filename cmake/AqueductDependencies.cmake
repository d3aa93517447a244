# Libraries from outside. `./aq setup` installs all of them on Debian.

# find_package with an error message that says what to do.
macro(aqueduct_need package debian)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. On Debian: apt-get install ${debian} (./aq setup installs all)")
  endif()
endmacro()

aqueduct_need(fmt libfmt-dev)
aqueduct_need(spdlog libspdlog-dev)
aqueduct_need(PkgConfig pkg-config)
pkg_check_modules(sodium QUIET IMPORTED_TARGET libsodium)
if(NOT sodium_FOUND)
  message(FATAL_ERROR "libsodium was not found. On Debian: apt-get install libsodium-dev (./aq setup installs all)")
endif()

# Only the headers are needed: libpmix is loaded at run time, when PMIx has started the job.
if(AQUEDUCT_PMIX)
  pkg_check_modules(pmix QUIET pmix)
  if(NOT pmix_FOUND AND NOT AQUEDUCT_PMIX STREQUAL "AUTO")
    message(FATAL_ERROR "AQUEDUCT_PMIX=${AQUEDUCT_PMIX}, but libpmix was not found. On Debian: apt-get install libpmix-dev")
  endif()
else()
  set(pmix_FOUND OFF)  # a cached value of an earlier configuration may differ
endif()

# Likewise hwloc, which a rank loads when it first asks for the levels of memory. aqrun is linked with it.
if(AQUEDUCT_HWLOC OR AQUEDUCT_BUILD_TOOLS OR AQUEDUCT_BUILD_TESTS)
  pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc>=2)
endif()
set(AQUEDUCT_WITH_HWLOC OFF)
if(AQUEDUCT_HWLOC)
  set(AQUEDUCT_WITH_HWLOC ${hwloc_FOUND})
  if(NOT hwloc_FOUND AND NOT AQUEDUCT_HWLOC STREQUAL "AUTO")
    message(FATAL_ERROR "AQUEDUCT_HWLOC=${AQUEDUCT_HWLOC}, but hwloc 2 was not found. On Debian: apt-get install libhwloc-dev")
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(AQUEDUCT_BUILD_TOOLS OR AQUEDUCT_BUILD_TESTS)
  aqueduct_need(nlohmann_json nlohmann-json3-dev)
  aqueduct_need(GTest libgtest-dev)
  if(NOT hwloc_FOUND)
    message(FATAL_ERROR "hwloc was not found. On Debian: apt-get install libhwloc-dev (./aq setup installs all)")
  endif()
endif()
if(AQUEDUCT_BUILD_TOOLS OR AQUEDUCT_BUILD_EXAMPLES OR AQUEDUCT_BUILD_TESTS)
  aqueduct_need(CLI11 libcli11-dev)
endif()
if(AQUEDUCT_BUILD_EXAMPLES)
  aqueduct_need(PNG libpng-dev)
endif()
