# The network libraries, each of them optional. Conduits load them at run time, so only headers are needed here;
# targets get those by linking aqueduct_networks.

add_library(aqueduct_networks INTERFACE)

# aqueduct_network(<conduit> <pkg-config module> <least version> <Debian package> [<further
# modules>...]): decides whether the conduit is built.
macro(aqueduct_network conduit module least debian)
  string(TOUPPER ${conduit} upper)
  set(AQUEDUCT_${upper} "AUTO" CACHE STRING "Build the ${conduit} conduit: AUTO (if ${debian} is there), ON or OFF")
  set_property(CACHE AQUEDUCT_${upper} PROPERTY STRINGS AUTO ON OFF)
  set(${module}_FOUND OFF)
  if(AQUEDUCT_${upper})  # AUTO counts as true
    pkg_check_modules(${module} QUIET ${module}>=${least} ${ARGN})
  endif()
  if(${module}_FOUND)
    target_include_directories(aqueduct_networks SYSTEM INTERFACE ${${module}_INCLUDE_DIRS})
    list(APPEND AQUEDUCT_NETWORKS AQUEDUCT_WITH_${upper})
    aqueduct_far_conduit(${conduit})
  elseif(AQUEDUCT_${upper} AND NOT AQUEDUCT_${upper} STREQUAL "AUTO")
    message(FATAL_ERROR "AQUEDUCT_${upper}=${AQUEDUCT_${upper}}, but ${module} ${least} or later was not found. On Debian: "
      "apt-get install ${debian} (./aq setup installs all)")
  else()
    list(APPEND AQUEDUCT_LEFT_OUT ${conduit})
  endif()
  message(STATUS "conduit ${conduit}: ${${module}_FOUND}")
endmacro()

set(AQUEDUCT_NETWORKS "")  # the networks that tools/aqperf can compare with
set(AQUEDUCT_LEFT_OUT "")  # conduits whose folders are removed from every list of sources
aqueduct_network(ofi libfabric 1.14 libfabric-dev)
aqueduct_network(ucx ucx 1.13 libucx-dev)
aqueduct_network(ibv libibverbs 1.11 "libibverbs-dev librdmacm-dev" librdmacm)
