# What comes from outside. `./aq setup` installs all of it on Debian.

# find_package that says what to do when it finds nothing.
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
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# The network libraries, each optional: what is found comes through aqueduct_networks; the folders of the others'
# conduits are left out of every list of sources.
add_library(aqueduct_networks INTERFACE)
set(AQUEDUCT_LEFT_OUT "")
set(AQUEDUCT_WITH "")  # what conduits/builtin.cpp is told

# libfabric's headers, for the ofi conduit, which loads the library itself when it is used: see
# conduits/ofi/library.hpp. 1.14 is the version of the interface that it asks for.
set(libfabric_FOUND OFF)
if(NOT AQUEDUCT_OFI STREQUAL "OFF")
  pkg_check_modules(libfabric QUIET libfabric>=1.14)
  if(AQUEDUCT_OFI STREQUAL "ON" AND NOT libfabric_FOUND)
    message(FATAL_ERROR "AQUEDUCT_OFI=ON, but libfabric 1.14 or later was not found. On Debian: apt-get install "
      "libfabric-dev (./aq setup installs all); or -DAQUEDUCT_OFI=OFF")
  endif()
endif()
if(libfabric_FOUND)
  target_include_directories(aqueduct_networks SYSTEM INTERFACE ${libfabric_INCLUDE_DIRS})
  list(APPEND AQUEDUCT_WITH AQUEDUCT_WITH_OFI)
else()
  list(APPEND AQUEDUCT_LEFT_OUT ofi)
  message(STATUS "The ofi conduit is left out: AQUEDUCT_OFI is ${AQUEDUCT_OFI}, libfabric (libfabric-dev) not used")
endif()

if(AQUEDUCT_BUILD_TOOLS OR AQUEDUCT_BUILD_TESTS)
  aqueduct_need(nlohmann_json nlohmann-json3-dev)
  aqueduct_need(GTest libgtest-dev)
  pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc)
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
