# cmake -D build=… -D source=… -D work=… -D compiler=… -D version=… -P try_install.cmake

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${work}")
set(prefix "${work}/prefix")
run(COMMAND ${CMAKE_COMMAND} --install "${build}" --prefix "${prefix}" --strip)
file(GLOB_RECURSE pc "${prefix}/*/aqueduct.pc")
if(NOT pc)
  message(FATAL_ERROR "no aqueduct.pc below ${prefix}")
endif()
get_filename_component(pc_dir "${pc}" DIRECTORY)
get_filename_component(lib_dir "${pc_dir}" DIRECTORY)

# The installation must be self-contained: no file in it may name the build or source tree.
file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc" "${prefix}/*.hpp" "${prefix}/*.h")
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  string(FIND "${content}" "${build}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${text} names the build tree ${build}")
  endif()
endforeach()

# A package that has been moved must work as before.
file(RENAME "${prefix}" "${work}/moved")
string(REPLACE "${prefix}" "${work}/moved" pc_dir "${pc_dir}")
string(REPLACE "${prefix}" "${work}/moved" lib_dir "${lib_dir}")

run(COMMAND ${CMAKE_COMMAND} -S "${source}" -B "${work}/cmake" -G Ninja "-DCMAKE_CXX_COMPILER=${compiler}"
  "-DCMAKE_PREFIX_PATH=${work}/moved" "-DAQUEDUCT_WANTED=${version}")
run(COMMAND ${CMAKE_COMMAND} --build "${work}/cmake")
run(COMMAND "${work}/cmake/program")
message(STATUS "find_package: ${said}")

run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config --cflags --libs "aqueduct >= ${version}")
string(STRIP "${said}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(COMMAND "${compiler}" -std=c++20 "${source}/program.cpp" ${flags} "-Wl,-rpath,${lib_dir}"
  -o "${work}/program")
run(COMMAND "${work}/program")
message(STATUS "pkg-config: ${said}")
