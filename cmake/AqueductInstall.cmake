# Installs headers, libraries, the CMake package and the pkg-config file. tools/ installs the tools.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Aqueduct")

install(TARGETS aqueduct EXPORT AqueductTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY include/aqueduct DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")

# For conduits outside this tree: find_package(Aqueduct COMPONENTS conduit) adds the conduit interface, its log, and the
# parts of core that our own conduits are built from. docs/write-a-conduit.md says what each is for.
add_library(aqueduct_conduit INTERFACE)
set(conduit_headers "${CMAKE_INSTALL_INCLUDEDIR}/aqueduct-conduit")
target_include_directories(aqueduct_conduit INTERFACE "$<INSTALL_INTERFACE:${conduit_headers}>")
target_link_libraries(aqueduct_conduit INTERFACE aqueduct fmt::fmt)
set_target_properties(aqueduct_conduit PROPERTIES EXPORT_NAME conduit)
set(conduit_parts aside backoff clock conduit local_registrations log network pieces progress_thread to_self)
list(TRANSFORM conduit_parts REPLACE "(.+)" "core/\\1.hpp")
install(FILES ${conduit_parts} DESTINATION "${conduit_headers}/core")
install(TARGETS aqueduct_conduit EXPORT AqueductConduitTargets)
install(EXPORT AqueductConduitTargets NAMESPACE Aqueduct:: DESTINATION "${package_dir}")
install(EXPORT AqueductTargets NAMESPACE Aqueduct:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/AqueductConfig.cmake.in "${PROJECT_BINARY_DIR}/AqueductConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/AqueductConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/AqueductConfig.cmake" "${PROJECT_BINARY_DIR}/AqueductConfigVersion.cmake"
  DESTINATION "${package_dir}")

set(pc_cflags "")
if(AQUEDUCT_CHECKED)
  set(pc_cflags " -DAQUEDUCT_CHECKED")
endif()
# The file computes the prefix from its own location, so that an installed tree can be moved.
set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${pc_dir}" OUTPUT_VARIABLE pc_up)
configure_file(cmake/aqueduct.pc.in "${PROJECT_BINARY_DIR}/aqueduct.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/aqueduct.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
