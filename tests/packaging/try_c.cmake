# cmake -D build=… -D source=… -D work=… -D c_compiler=… -D version=… -P try_c.cmake
#
# Builds a program in C against an installed library: with the CMake package in a project without C++, and with pkg-config
# against the shared and the static library.

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

run(COMMAND ${CMAKE_COMMAND} -S "${source}" -B "${work}/cmake" -G Ninja "-DCMAKE_C_COMPILER=${c_compiler}"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror" "-DAQUEDUCT_WANTED=${version}")
run(COMMAND ${CMAKE_COMMAND} --build "${work}/cmake")
run(COMMAND "${work}/cmake/program_c")
message(STATUS "find_package: ${said}")

set(compile "${c_compiler}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${source}/program.c")
run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config --cflags --libs "aqueduct >= ${version}")
if(said MATCHES "spdlog|fmt|sodium")
  message(FATAL_ERROR "a program with the shared library needs none of these: ${said}")
endif()
string(STRIP "${said}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(COMMAND ${compile} ${flags} "-Wl,-rpath,${lib_dir}" -o "${work}/program")
run(COMMAND "${work}/program")
message(STATUS "pkg-config, shared: ${said}")

# The linker would take libaqueduct.so, which is in the same folder. The program has no path to that.
run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config --static --cflags --libs aqueduct)
string(STRIP "${said}" flags)
string(REPLACE "-laqueduct" "-l:libaqueduct.a" flags "${flags}")
separate_arguments(flags UNIX_COMMAND "${flags}")
run(COMMAND ${compile} ${flags} -o "${work}/program_static")
run(COMMAND "${work}/program_static")
message(STATUS "pkg-config, static: ${said}")

# Also as a job, with the installed launcher.
run(COMMAND "${prefix}/bin/aqrun" -n 2 "${work}/program_static")
