# Compiling several sources at once: what most of them spend their time on, the headers, is then read once a batch.

option(AQUEDUCT_BATCHES "Compile sources in batches (unity builds): a third of the time, the same code" ON)

# aqueduct_batches(<target> [<files a batch>])
function(aqueduct_batches target)
  if(NOT AQUEDUCT_BATCHES)
    return()
  endif()
  set(size 12)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${size})
endfunction()
