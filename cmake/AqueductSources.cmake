# A file's folder decides which target it belongs to.

# Removes conduits that are not built (AQUEDUCT_LEFT_OUT) from a list of files. Their
# fabrics remain, because they need no library.
macro(aqueduct_leave_out files)
  foreach(conduit IN LISTS AQUEDUCT_LEFT_OUT)
    set(fabrics ${${files}})
    list(FILTER fabrics INCLUDE REGEX "(^|/)conduits/${conduit}/tests/fabric[^/]*\\.cpp$")
    list(FILTER ${files} EXCLUDE REGEX "(^|/)conduits/${conduit}/")
    list(APPEND ${files} ${fabrics})
    list(FILTER ${files} EXCLUDE REGEX "(^|/)tools/aqperf/raw/[^/]+_${conduit}\\.cpp$")
  endforeach()
endmacro()

# Sets `out` to the .cpp files below the named folders, without tests. A folder that does not exist has none.
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

# Sets `out` to the folders of the library: those at the root that have sources, except the named ones. A new layer is
# a folder; tests/structure/check_arrows.py complains about a folder that it does not know.
function(aqueduct_library_folders out)
  file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/*/*.cpp")
  list(TRANSFORM found REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES found)
  list(REMOVE_ITEM found ${ARGN})
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the files that the patterns (relative to the root) match.
function(aqueduct_glob out)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  aqueduct_leave_out(found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()
