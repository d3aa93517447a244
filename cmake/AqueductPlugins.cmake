# Conduits between hosts are compiled in or, with AQUEDUCT_PLUGINS, built as modules LIBDIR/aqueduct/NAME.so. So one
# package serves sites with the network's library and sites without it.

set(AQUEDUCT_WITH "")  # the conduits that conduits/builtin.cpp lists
set(AQUEDUCT_PLUGGED "")  # conduits that are modules
set(AQUEDUCT_PLUGGED_OBJECTS "")  # the modules' objects once more, for tests of their internals

# aqueduct_far_conduit(<name>): decides between compiled in and module. To be called before the sources are listed.
macro(aqueduct_far_conduit name)
  if(AQUEDUCT_PLUGINS)
    list(APPEND AQUEDUCT_PLUGGED ${name})
  else()
    string(TOUPPER "AQUEDUCT_WITH_${name}" word)
    list(APPEND AQUEDUCT_WITH ${word})
  endif()
endmacro()

# Removes the modules' files from a list of sources.
macro(aqueduct_leave_out_plugins sources)
  foreach(conduit IN LISTS AQUEDUCT_PLUGGED)
    list(FILTER ${sources} EXCLUDE REGEX "/conduits/${conduit}/")
  endforeach()
endmacro()

# aqueduct_plugin(<name>): builds the conduit's module, if it is one.
function(aqueduct_plugin conduit)
  if(NOT conduit IN_LIST AQUEDUCT_PLUGGED)
    return()
  endif()
  aqueduct_sources(sources conduits/${conduit})
  set(objects aqueduct_${conduit}_objects)
  add_library(${objects} OBJECT ${sources})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  aqueduct_batches(${objects})
  target_link_libraries(${objects} PUBLIC aqueduct_internal)

  configure_file(cmake/plugin.cpp.in "${PROJECT_BINARY_DIR}/plugin_${conduit}.cpp" @ONLY)
  add_library(aqueduct_${conduit} MODULE "${PROJECT_BINARY_DIR}/plugin_${conduit}.cpp")
  target_link_libraries(aqueduct_${conduit} PRIVATE ${objects} aqueduct)
  target_link_options(aqueduct_${conduit} PRIVATE -Wl,--as-needed)
  set_target_properties(aqueduct_${conduit} PROPERTIES PREFIX "" OUTPUT_NAME ${conduit} INSTALL_RPATH "$ORIGIN/.."
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/aqueduct")
  install(TARGETS aqueduct_${conduit} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/aqueduct")
  set(AQUEDUCT_PLUGGED_OBJECTS ${AQUEDUCT_PLUGGED_OBJECTS} ${objects} PARENT_SCOPE)
endfunction()
