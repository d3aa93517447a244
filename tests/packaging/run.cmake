# run([ENV <variables…>] COMMAND <words…>): stores the output in `said`; ends the script if the command fails.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 run "" "" "ENV;COMMAND")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${run_ENV} ${run_COMMAND}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  list(JOIN run_COMMAND " " command)
  if(failed)
    message(FATAL_ERROR "${command}\nended with ${failed}:\n${said}")
  endif()
  message(STATUS "${command}")
  set(said "${said}" PARENT_SCOPE)
endfunction()
