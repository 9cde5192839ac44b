# nam_one_thread(TEST...): these tests have one thread and no process beside it. The thread sanitizer has nothing to find in them, and ./go test
# leaves the label one-thread out there. The release build holds them to it: tests/one_thread.c is preloaded, and a thread is a failure.
function(nam_one_thread)
  if(NOT NAM_SANITIZE AND NOT TARGET one_thread)
    add_library(one_thread MODULE ${CMAKE_SOURCE_DIR}/tests/one_thread.c)
  endif()
  foreach(t ${ARGN})
    set_property(TEST ${t} APPEND PROPERTY LABELS one-thread)
    if(NOT NAM_SANITIZE)
      set_property(TEST ${t} APPEND PROPERTY ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:one_thread>")
    endif()
  endforeach()
endfunction()

# nam_one_at_a_time(TEST...): there are threads, but each waits for what it asked of the next one: a session, its worker, the parser. The
# thread sanitizer sees those steps in smaller tests; ./go test leaves this label out there as well.
function(nam_one_at_a_time)
  foreach(t ${ARGN})
    set_property(TEST ${t} APPEND PROPERTY LABELS one-at-a-time)
  endforeach()
endfunction()

# nam_sanitized(BUILD TEST...): the build with that sanitizer, asan or tsan, plays these drivers of the real program in ./go test. The other
# drivers repeat there what smaller tests have shown, and take minutes; ./go sanitizers plays all.
function(nam_sanitized build)
  foreach(t ${ARGN})
    if(TEST ${t})
      set_property(TEST ${t} APPEND PROPERTY LABELS in-${build})
    endif()
  endforeach()
endfunction()

# nam_waits(TEST...): they mostly wait, for clocks and for each other. Every other test takes two of ctest's
# places (PROCESSORS 2), of which run_tests in go gives out two for each processor.
function(nam_waits)
  foreach(t ${ARGN})
    set_property(TEST ${t} PROPERTY PROCESSORS 1)
  endforeach()
endfunction()

# nam_long(TEST...): ./go test plays a smaller form of these; they themselves are for ./go test --long.
function(nam_long)
  foreach(t ${ARGN})
    set_property(TEST ${t} APPEND PROPERTY LABELS long)
  endforeach()
endfunction()

# nam_twins(TEST...): they have faults built in, in every build, and tests/twins.sh plays them. So ./go test leaves them out in the other
# stages.
function(nam_twins)
  foreach(t ${ARGN})
    set_property(TEST ${t} APPEND PROPERTY LABELS twin)
  endforeach()
endfunction()
