# Which files belong to what is decided by where they lie.

# Takes the conduits that are not built (AQUEDUCT_LEFT_OUT) out of a list of files; not their fabrics, which need no
# library.
macro(aqueduct_leave_out files)
  foreach(conduit IN LISTS AQUEDUCT_LEFT_OUT)
    set(fabrics ${${files}})
    list(FILTER fabrics INCLUDE REGEX "(^|/)conduits/${conduit}/tests/fabric[^/]*\\.cpp$")
    list(FILTER ${files} EXCLUDE REGEX "(^|/)conduits/${conduit}/")
    list(APPEND ${files} ${fabrics})
    list(FILTER ${files} EXCLUDE REGEX "(^|/)tools/aqperf/[^/]+_${conduit}\\.cpp$")
  endforeach()
endmacro()

# Sets `out` to the .cpp files below the folders named, tests apart. Folders that do not exist yet have none.
function(aqueduct_sources out)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
    list(FILTER files EXCLUDE REGEX "(^|/)tests/")
    aqueduct_leave_out(files)
    list(APPEND found ${files})
  endforeach()
  list(TRANSFORM found PREPEND "${PROJECT_SOURCE_DIR}/")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the files that the patterns (relative to the root) match.
function(aqueduct_glob out)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  aqueduct_leave_out(found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()
