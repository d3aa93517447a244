# Installs headers, libraries, the CMake package and the pkg-config file. tools/ installs the tools.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Aqueduct")

install(TARGETS aqueduct EXPORT AqueductTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# Not part of the package's targets: only its component "static" names the libraries inside it.
install(TARGETS aqueduct_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/aqueduct DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

# For conduits outside this tree: find_package(Aqueduct COMPONENTS conduit) adds the conduit interface, its log, and the
# parts of core that our own conduits are built from. docs/write-a-conduit.md says what each is for.
add_library(aqueduct_conduit INTERFACE)
set(conduit_headers "${CMAKE_INSTALL_INCLUDEDIR}/aqueduct-conduit")
add_library(Aqueduct::conduit ALIAS aqueduct_conduit)
target_include_directories(aqueduct_conduit INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${conduit_headers}>")
target_link_libraries(aqueduct_conduit INTERFACE aqueduct fmt::fmt)
set_target_properties(aqueduct_conduit PROPERTIES EXPORT_NAME conduit)
# One list for plug-ins and for the conduits of this tree, which a structure test holds to it.
set(conduit_parts_list "${PROJECT_SOURCE_DIR}/tests/structure/conduit_headers.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${conduit_parts_list}")
file(STRINGS "${conduit_parts_list}" conduit_parts REGEX "^core/")
install(FILES ${conduit_parts} DESTINATION "${conduit_headers}/core")
install(TARGETS aqueduct_conduit EXPORT AqueductConduitTargets)
install(EXPORT AqueductConduitTargets NAMESPACE Aqueduct:: DESTINATION "${package_dir}")
install(EXPORT AqueductTargets NAMESPACE Aqueduct:: DESTINATION "${package_dir}")

# The conformance kit for conduits outside this tree: find_package(Aqueduct COMPONENTS conformance). Its cases register
# themselves in static initializers, so a program must link all members of the archive.
if(TARGET aqueduct_conformance)
  add_library(aqueduct_cases STATIC $<TARGET_OBJECTS:aqueduct_conformance> $<TARGET_OBJECTS:aqueduct_launch>)
  set_target_properties(aqueduct_cases PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME aqueduct_conformance
    EXPORT_NAME conformance_cases)
  target_link_libraries(aqueduct_cases INTERFACE aqueduct_conduit GTest::gtest GTest::gmock)
  add_library(aqueduct_kit INTERFACE)
  set(kit_headers "${CMAKE_INSTALL_INCLUDEDIR}/aqueduct-conformance")
  target_include_directories(aqueduct_kit INTERFACE "$<INSTALL_INTERFACE:${kit_headers}>")
  target_link_libraries(aqueduct_kit INTERFACE
    "$<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,Aqueduct::conformance_cases>>")
  set_target_properties(aqueduct_kit PROPERTIES EXPORT_NAME conformance)
  set(kit_parts conduit_bench fabric fabric_test hosts kit pattern property shared faults/fault_plan faults/faulty
    faults/faulty_native faults/with_faults)
  foreach(part IN LISTS kit_parts)
    get_filename_component(folder "tests/conformance/${part}" DIRECTORY)
    install(FILES "tests/conformance/${part}.hpp" DESTINATION "${kit_headers}/${folder}")
  endforeach()
  install(TARGETS aqueduct_cases aqueduct_kit EXPORT AqueductConformanceTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT AqueductConformanceTargets NAMESPACE Aqueduct:: DESTINATION "${package_dir}")
endif()

configure_package_config_file(cmake/AqueductConfig.cmake.in "${PROJECT_BINARY_DIR}/AqueductConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
set(aqueduct_static_definitions "")
if(AQUEDUCT_CHECKED)
  set(aqueduct_static_definitions AQUEDUCT_CHECKED)
endif()
configure_file(cmake/AqueductStatic.cmake.in "${PROJECT_BINARY_DIR}/AqueductStatic.cmake" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/AqueductStatic.cmake" DESTINATION "${package_dir}")
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
