# The ucx conduit. UCX is loaded when a job wants it, so only its headers are needed here.

set(AQUEDUCT_UCX "AUTO" CACHE STRING "Build the ucx conduit: AUTO (if UCX's headers are found), ON or OFF")
set_property(CACHE AQUEDUCT_UCX PROPERTY STRINGS AUTO ON OFF)
set(AQUEDUCT_WITH_UCX OFF)
if(AQUEDUCT_UCX)  # AUTO is true, too
  pkg_check_modules(ucx QUIET ucx>=1.13)
  if(ucx_FOUND)
    set(AQUEDUCT_WITH_UCX ON)
    list(APPEND AQUEDUCT_WITH AQUEDUCT_WITH_UCX)  # what tools/aqperf is told
  elseif(NOT AQUEDUCT_UCX STREQUAL "AUTO")
    message(FATAL_ERROR "UCX 1.13 or later was not found. On Debian: apt-get install libucx-dev (./aq setup installs all)")
  endif()
endif()
message(STATUS "ucx conduit: ${AQUEDUCT_WITH_UCX}")

# Takes from a list of sources what belongs to the conduit and is not to be built.
function(aqueduct_choose_ucx list)
  if(AQUEDUCT_WITH_UCX)
    list(FILTER ${list} EXCLUDE REGEX "/conduits/ucx/without_ucx\\.cpp$")
  else()
    list(FILTER ${list} EXCLUDE REGEX "/tools/aqperf/[a-z]+_ucx\\.cpp$")
    list(FILTER ${list} EXCLUDE REGEX "/conduits/ucx/(tests/)?(library|context|printed|ucx|ucx_[a-z]+|[a-z_]+_test)\\.cpp$")
  endif()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
