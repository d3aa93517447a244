# Headers, libraries, the CMake package and the pkg-config file. The tools install themselves (tools/).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Aqueduct")

install(TARGETS aqueduct EXPORT AqueductTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY include/aqueduct DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
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
# The prefix is found from where the file lies, so that an installed tree may be moved.
set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${pc_dir}" OUTPUT_VARIABLE pc_up)
configure_file(cmake/aqueduct.pc.in "${PROJECT_BINARY_DIR}/aqueduct.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/aqueduct.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
