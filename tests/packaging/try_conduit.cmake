# cmake -D build=… -D source=… -D work=… -D compiler=… -P try_conduit.cmake
#
# Builds the template of a conduit against an installed library, and loads it by its path and from a folder. Compiles each
# installed header for conduits alone. Runs a few cases of the conformance kit as a library, over the template's fabrics.

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${work}")
set(prefix "${work}/prefix")
run(COMMAND ${CMAKE_COMMAND} --install "${build}" --prefix "${prefix}" --strip)
run(COMMAND ${CMAKE_COMMAND} -S "${source}" -B "${work}/tiny" -G Ninja "-DCMAKE_CXX_COMPILER=${compiler}"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_FLAGS=-Werror")
run(COMMAND ${CMAKE_COMMAND} --build "${work}/tiny")

# The installed headers for conduits compile, twice in a row. (structure.headers compiles each alone, in the tree.) Only the
# log and what includes it use fmt.
set(includes "${prefix}/include/aqueduct-conduit")
file(GLOB_RECURSE headers RELATIVE "${includes}" "${includes}/*.hpp")
list(LENGTH headers count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} headers for conduits are installed: ${headers}")
endif()
set(with_log ${headers})
list(FILTER with_log INCLUDE REGEX "/(log|network|raw_network)\\.hpp$")
set(without_log ${headers})
list(REMOVE_ITEM without_log ${with_log})
foreach(kind without_log with_log)
  list(TRANSFORM ${kind} REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE lines)
  string(CONCAT lines ${lines} ${lines})
  file(WRITE "${work}/${kind}.cpp" "${lines}")
  run(COMMAND "${compiler}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -H "-I${prefix}/include" "-I${includes}"
    "${work}/${kind}.cpp")
  if(kind STREQUAL "without_log" AND said MATCHES "[^\n]*[/ ](fmt|spdlog)/[^\n]*")
    message(FATAL_ERROR "a header other than ${with_log} includes fmt or spdlog: ${CMAKE_MATCH_0}\n${said}")
  endif()
endforeach()

# By its path, with the kit in brief and without its slow parts, and without pieces of memory and most of collectives, with
# which no conduit of this kind has to do.
set(bin "${prefix}/bin")
run(COMMAND "${bin}/aqconform" --plugin "${work}/tiny/tiny.so" --ranks 4 --limit 40 --brief
  "--gtest_filter=-*Random*:*AmStorm*:*BackPressure*:*Vis*:*CollectiveA*:*CollectiveB*:*CollectiveE*:*CollectiveL*:*CollectiveO*:*CollectiveP*:*CollectiveS*:*CollectivesI*")
string(REGEX MATCH "[0-9]+ tests? ran|PASSED[^\n]*" what "${said}")
message(STATUS "aqconform: ${what}")
if(NOT said MATCHES "PASSED  \\] [1-9]")
  message(FATAL_ERROR "${said}")
endif()

# The kit as a library: a program of the template, with fabrics and a setting of its own.
run(COMMAND "${work}/tiny/tiny_kit" --list)
foreach(fabric "tiny-threads .*threads of one process" "tiny-narrow .*a process each.* tiny_buffer=16K" "tiny-late ")
  if(NOT said MATCHES "${fabric}")
    message(FATAL_ERROR "tiny_kit --list does not say '${fabric}':\n${said}")
  endif()
endforeach()
run(COMMAND "${work}/tiny/tiny_kit" --ranks 3 --limit 40 --fabric tiny-threads,tiny-narrow,tiny-late
  "--gtest_filter=*Property*:*AmShort*")
string(REGEX MATCH "PASSED[^\n]*" what "${said}")
message(STATUS "tiny_kit: ${what}")
if(NOT said MATCHES "PASSED  \\] [1-9]")
  message(FATAL_ERROR "${said}")
endif()

# Beside the bare sockets, which the plug-in itself measures.
run(COMMAND "${bin}/aqperf" am-latency --ranks 2 --conduit "${work}/tiny/tiny.so" --seconds 0.2 --vs raw --json)
if(NOT said MATCHES "\"ratio\":[0-9]" OR NOT said MATCHES "\"raw_what\":\"bare Unix datagram sockets")
  message(FATAL_ERROR "aqperf does not compare with what the plug-in measures:\n${said}")
endif()

# From a folder: now the conduit is known by its name, and so is its setting.
run(ENV "AQUEDUCT_PLUGIN_PATH=${work}/tiny" "AQUEDUCT_TINY_BUFFER=1M" COMMAND "${bin}/aqinfo")
foreach(part "Conduit tiny: Unix datagram sockets" "AQUEDUCT_TINY_BUFFER +1M +bytes +256K +environment"
    "not tiny: stays on one host")
  if(NOT said MATCHES "${part}")
    message(FATAL_ERROR "aqinfo does not say '${part}':\n${said}")
  endif()
endforeach()
run(ENV "AQUEDUCT_PLUGIN_PATH=${work}/tiny" COMMAND "${bin}/aqconform" --conduit tiny --ranks 2 "--gtest_filter=*AmShort*")
