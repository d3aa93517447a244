# cmake -D build=… -D source=… -D work=… -D c_compiler=… -D version=… -P try_gasnet.cmake
#
# Builds a client of GASNet against an installed layer: with the CMake package, with pkg-config, and with Makefile fragments.

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${work}")
set(prefix "${work}/prefix")
run(COMMAND ${CMAKE_COMMAND} --install "${build}" --prefix "${prefix}" --strip)
file(GLOB_RECURSE pc "${prefix}/*/aqueduct-gasnet-seq.pc")
if(NOT pc)
  message(FATAL_ERROR "no aqueduct-gasnet-seq.pc below ${prefix}")
endif()
get_filename_component(pc_dir "${pc}" DIRECTORY)
get_filename_component(lib_dir "${pc_dir}" DIRECTORY)

run(COMMAND ${CMAKE_COMMAND} -S "${source}" -B "${work}/cmake" -G Ninja "-DCMAKE_C_COMPILER=${c_compiler}"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DAQUEDUCT_WANTED=${version}")
run(COMMAND ${CMAKE_COMMAND} --build "${work}/cmake")
run(COMMAND "${prefix}/bin/aqrun" -n 2 "${work}/cmake/program_gasnet")
message(STATUS "find_package: ${said}")

# Configure scripts of clients look for these two headers, read the release in the first one, and call GASNet's launcher.
file(STRINGS "${prefix}/include/aqueduct-gasnet/gasnet_config.h" release
  REGEX "GASNET_RELEASE_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
list(LENGTH release lines)
if(NOT lines EQUAL 3 OR NOT EXISTS "${prefix}/include/aqueduct-gasnet/aqueduct-conduit/gasnet_core.h")
  message(FATAL_ERROR "gasnet_config.h has ${lines} numbers of the release, or aqueduct-conduit/gasnet_core.h is missing")
endif()
run(COMMAND "${prefix}/bin/gasnetrun_aqueduct" -n 2 "${work}/cmake/program_gasnet")

# The program does not name libaqueduct, as with compilers that pass --as-needed by themselves: the layer's library must find it.
foreach(mode seq parsync par)
  run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config --cflags --libs "aqueduct-gasnet-${mode}")
  string(STRIP "${said}" flags)
  if(NOT flags MATCHES "-D_GNU_SOURCE=1")
    message(FATAL_ERROR "${mode}: GASNet's flags define _GNU_SOURCE, ours do not: ${flags}")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(COMMAND "${c_compiler}" -Wl,--as-needed "${source}/program.c" ${flags} "-Wl,--enable-new-dtags,-rpath,${lib_dir}"
    -o "${work}/program_${mode}")
  run(COMMAND "${prefix}/bin/aqrun" -n 2 "${work}/program_${mode}")
  message(STATUS "pkg-config, ${mode}: ${said}")
endforeach()

# GASNet's own names, and its variables, for C and C++.
function(variable package name out)
  run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config "--variable=${name}" "${package}")
  string(STRIP "${said}" value)
  separate_arguments(value UNIX_COMMAND "${value}")
  set(${out} "${value}" PARENT_SCOPE)
endfunction()
function(built_by package prefix language input output)
  foreach(part CC CXX LD CPPFLAGS CFLAGS CXXCPPFLAGS CXXFLAGS LDFLAGS LIBS)
    variable(${package} ${prefix}_${part} ${part})
  endforeach()
  if(language STREQUAL "c")
    set(compile ${CC} ${CPPFLAGS} ${CFLAGS})
  else()
    if(prefix STREQUAL "GASNETTOOLS")
      set(CXXCPPFLAGS ${CPPFLAGS})
    endif()
    set(compile ${CXX} -x c++ ${CXXCPPFLAGS} ${CXXFLAGS})
  endif()
  run(COMMAND ${compile} -c "${input}" -o "${output}.o")
  run(COMMAND ${LD} ${LDFLAGS} -o "${output}" "${output}.o" ${LIBS})
endfunction()
foreach(language c c++)
  foreach(mode seq parsync par)
    built_by(gasnet-aqueduct-${mode} GASNET ${language} "${source}/program.c" "${work}/own_${mode}")
    run(COMMAND "${prefix}/bin/aqrun" -n 2 "${work}/own_${mode}")
    if(NOT mode STREQUAL "parsync")
      built_by(gasnet_tools-${mode} GASNETTOOLS ${language} "${source}/tools.c" "${work}/tools_${mode}")
      run(COMMAND "${work}/tools_${mode}")
      string(TOUPPER ${mode} upper)
      if(NOT said MATCHES "2048, ${upper}")
        message(FATAL_ERROR "tools, ${mode}: ${said}")
      endif()
    endif()
  endforeach()
endforeach()
variable(gasnet-aqueduct-par GASNET_PREFIX said_prefix)
file(REAL_PATH "${said_prefix}" said_prefix)
file(REAL_PATH "${prefix}" real_prefix)
run(ENV "PKG_CONFIG_PATH=${pc_dir}" COMMAND pkg-config --cflags --libs --print-errors "gasnet-aqueduct-par >= 2025.8.0")
if(NOT said_prefix STREQUAL real_prefix OR NOT said MATCHES "-DGASNET_PAR.*-lgasnet-aqueduct-par")
  message(FATAL_ERROR "gasnet-aqueduct-par: prefix ${said_prefix}, flags ${said}")
endif()

find_program(make NAMES gmake make)
if(NOT make)
  message(STATUS "no GNU Make: the fragments are not tried")
  return()
endif()
file(RENAME "${prefix}" "${work}/moved")
foreach(mode seq parsync par)
  file(WRITE "${work}/Makefile" "include ${work}/moved/include/aqueduct-gasnet/aqueduct-conduit/aqueduct-${mode}.mak
made_${mode}: ${source}/program.c
\techo '$(GASNET_CPPFLAGS)' | grep -q -e -D_GNU_SOURCE=1
\ttest '$(GASNET_PREFIX)' = '${work}/moved' -a '$(GASNET_SPAWNER_DEFAULT)' = ssh
\t$(GASNET_CC) $(GASNET_MISC_CPPFLAGS) $(GASNET_DEFINES) $(GASNET_INCLUDES) $(GASNET_OPT_CFLAGS) $(GASNET_MISC_CFLAGS) -c $< -o $@.o
\t$(GASNET_CXX) -x c++ $(GASNET_MISC_CXXCPPFLAGS) $(GASNET_DEFINES) $(GASNET_INCLUDES) $(GASNET_OPT_CXXFLAGS) $(GASNET_MISC_CXXFLAGS) -c $< -o $@.oxx
\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) $(GASNET_LDFLAGS) $< -o $@ $(GASNET_LIBS)
")
  run(COMMAND "${make}" -s -C "${work}" made_${mode})
  run(COMMAND "${work}/moved/bin/aqrun" -n 2 "${work}/made_${mode}")
  message(STATUS "fragment, ${mode}: ${said}")
endforeach()
foreach(mode seq par)
  file(WRITE "${work}/Makefile" "include ${work}/moved/include/aqueduct-gasnet/gasnet_tools-${mode}.mak
made_tools_${mode}: ${source}/tools.c
\t$(GASNETTOOLS_CC) $(GASNETTOOLS_CPPFLAGS) $(GASNETTOOLS_CFLAGS) -c $< -o $@.o
\t$(GASNETTOOLS_LD) $(GASNETTOOLS_LDFLAGS) -o $@ $@.o $(GASNETTOOLS_LIBS)
")
  run(COMMAND "${make}" -s -C "${work}" made_tools_${mode})
  run(COMMAND "${work}/made_tools_${mode}")
  message(STATUS "fragment of the tools, ${mode}: ${said}")
endforeach()
