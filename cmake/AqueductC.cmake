# Programs in C: the tests and the example of the C face. The library itself is C++ only.

if(AQUEDUCT_BUILD_TESTS OR AQUEDUCT_BUILD_EXAMPLES)
  # By default the C compiler of the same kind as the C++ compiler, for the sake of the sanitizers' libraries.
  if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC})
    string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" compiler "${CMAKE_CXX_COMPILER}")
    string(REGEX REPLACE "g\\+\\+([^/]*)$" "gcc\\1" compiler "${compiler}")
    if(NOT compiler STREQUAL CMAKE_CXX_COMPILER AND EXISTS "${compiler}")
      set(CMAKE_C_COMPILER "${compiler}")
    endif()
  endif()
  enable_language(C)  # a quarter of a second
  set(CMAKE_C_STANDARD 11)
  set(CMAKE_C_STANDARD_REQUIRED ON)
  set(CMAKE_C_EXTENSIONS OFF)
  if(CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
  endif()
endif()

# aqueduct_c_program(<name> <sources…>): a program in C, linked as a user's is.
function(aqueduct_c_program name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -Wpedantic -Wconversion -Wshadow)
  target_link_libraries(${name} PRIVATE Aqueduct::aqueduct)
  if(AQUEDUCT_SANITIZE)  # the C++ parts of the sanitizers' libraries
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()
