# Conduits to other hosts are compiled in, or, with AQUEDUCT_PLUGINS, loadable modules LIBDIR/aqueduct/NAME.so, so
# that one package serves sites that have the network's library and sites that do not.

set(AQUEDUCT_WITH "")  # what conduits/builtin.cpp is told to list
set(AQUEDUCT_PLUGGED "")  # conduits that are modules
set(AQUEDUCT_PLUGGED_OBJECTS "")  # their code once more, for tests that look inside

# aqueduct_far_conduit(<name>): decides which of the two it is. Before the sources are listed.
macro(aqueduct_far_conduit name)
  if(AQUEDUCT_PLUGINS)
    list(APPEND AQUEDUCT_PLUGGED ${name})
  else()
    string(TOUPPER "AQUEDUCT_WITH_${name}" word)
    list(APPEND AQUEDUCT_WITH ${word})
  endif()
endmacro()

# Leaves the modules' files out of a list of sources.
macro(aqueduct_leave_out_plugins sources)
  foreach(conduit IN LISTS AQUEDUCT_PLUGGED)
    list(FILTER ${sources} EXCLUDE REGEX "/conduits/${conduit}/")
  endforeach()
endmacro()

# aqueduct_plugin(<name>): its module, if it is one.
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
