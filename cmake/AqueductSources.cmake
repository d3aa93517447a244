# Which files belong to what is decided by where they lie.

# Sets `out` to the .cpp files below the folders named, tests apart. Folders that do not exist yet have none.
function(aqueduct_sources out)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
    list(FILTER files EXCLUDE REGEX "(^|/)tests/")
    list(APPEND found ${files})
  endforeach()
  list(TRANSFORM found PREPEND "${PROJECT_SOURCE_DIR}/")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the files that the patterns (relative to the root) match.
function(aqueduct_glob out)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(${out} ${found} PARENT_SCOPE)
endfunction()
