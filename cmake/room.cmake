# nam_room(NAME [ONE_THREAD] [FOLDERS f g/h] [SHOWS i] [TESTS_USE x] USES a b c)
#   One folder = one static library. Its headers are included as <NAME/x.h> and
#   are visible only to rooms that list NAME in USES, so the compiler, not a
#   reviewer, keeps the map. Every *_test.c becomes a CTest test, linked with the
#   room, what it uses, and cmocka. ONE_THREAD: all of them run on the simulated
#   fabric, in one thread.
#
#   A room may lie in a folder of another: NAME is then sql/plan, its library
#   nam_sql_plan, its tests sql.x_test. It sees the headers that lie in sql itself;
#   of its sisters, and of sql's code, only what it names. A header x_internal.h is
#   seen by its own room alone. FOLDERS: folders of NAME that belong to the room
#   but whose headers no other room sees. SHOWS: folders
#   whose headers are as visible as NAME's own. TESTS_USE: rooms that this room's
#   tests use, and its code does not.
function(nam_room name)
  cmake_parse_arguments(R "ONE_THREAD" "" "USES;FOLDERS;SHOWS;TESTS_USE" ${ARGN})
  string(REPLACE "/" "_" lib ${name})
  string(REGEX REPLACE "/.*" "" house ${name})
  list(TRANSFORM R_FOLDERS PREPEND ${CMAKE_SOURCE_DIR}/${name}/ OUTPUT_VARIABLE folders)
  list(TRANSFORM R_SHOWS PREPEND ${CMAKE_SOURCE_DIR}/${name}/ OUTPUT_VARIABLE shows)
  set(src)
  foreach(f ${CMAKE_SOURCE_DIR}/${name} ${folders} ${shows})
    file(GLOB more CONFIGURE_DEPENDS ${f}/*.c)
    list(APPEND src ${more})
  endforeach()
  set(tests ${src})
  list(FILTER src EXCLUDE REGEX "_test\\.c$")
  list(FILTER tests INCLUDE REGEX "_test\\.c$")
  if(NOT NAM_TWINS)
    list(FILTER src EXCLUDE REGEX "/base/fault\\.c$")
  endif()
  # Two views of the tree: one holds this room's headers alone, the other those of its folders.
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.h)
  set(internal ${headers})
  list(FILTER internal INCLUDE REGEX "_internal\\.h$")
  list(FILTER headers EXCLUDE REGEX "_internal\\.h$")
  nam_view(outside ${name} ${headers} ${shows})
  list(FILTER R_FOLDERS EXCLUDE REGEX "/") # a folder's folders come with it
  list(TRANSFORM R_FOLDERS PREPEND ${CMAKE_SOURCE_DIR}/${name}/)
  nam_view(inside ${name} ${internal} ${R_FOLDERS})
  if(NOT src)
    # A room without code is a name on the map.
    file(WRITE ${CMAKE_BINARY_DIR}/empty_${lib}.c "extern int nam_room_${lib}; int nam_room_${lib};\n")
    set(src ${CMAKE_BINARY_DIR}/empty_${lib}.c)
  endif()
  if(NOT name STREQUAL base)
    list(PREPEND R_USES base)
  endif()
  set(sees ${name} ${R_USES})
  if(NOT name STREQUAL house)
    list(APPEND sees ${house})
  endif()
  add_library(nam_${lib} STATIC ${src})
  nam_sees(nam_${lib} ${sees})
  string(REPLACE "/" "_" uses "${R_USES}")
  list(TRANSFORM uses PREPEND nam_)
  string(REPLACE "/" "_" tests_use "${R_TESTS_USE}")
  list(TRANSFORM tests_use PREPEND nam_)
  target_link_libraries(nam_${lib} PRIVATE ${uses})
  target_include_directories(nam_${lib} PRIVATE ${CMAKE_BINARY_DIR}/sees/inside/${lib})
  # What tests/rooms.sh holds the symbols to.
  set_property(GLOBAL APPEND_STRING PROPERTY NAM_MAP "nam_${lib}: ${uses}\n")
  foreach(t ${tests})
    get_filename_component(tn ${t} NAME_WE)
    set(tn ${house}.${tn})
    add_executable(${tn} ${t})
    nam_sees(${tn} ${sees} ${R_TESTS_USE})
    target_include_directories(${tn} PRIVATE ${CMAKE_BINARY_DIR}/sees/inside/${lib})
    target_link_libraries(${tn} PRIVATE nam_${lib} ${tests_use} ${uses} ${LIB_CMOCKA})
    add_test(NAME ${tn} COMMAND ${tn})
    set(seconds 120)
    if(NAM_SANITIZE) # up to fifteen times slower
      set(seconds 600)
    endif()
    set_tests_properties(${tn} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${seconds} LABELS unit PROCESSORS 2)
    if(R_ONE_THREAD)
      nam_one_thread(${tn})
    endif()
  endforeach()
endfunction()

# nam_view(KIND ROOM file...): a folder that shows these files, and nothing else, under ROOM's path.
function(nam_view kind name)
  string(REPLACE "/" "_" lib ${name})
  set(view ${CMAKE_BINARY_DIR}/sees/${kind}/${lib})
  file(REMOVE_RECURSE ${view})
  file(MAKE_DIRECTORY ${view}/${name})
  foreach(f ${ARGN})
    get_filename_component(fn ${f} NAME)
    file(CREATE_LINK ${f} ${view}/${name}/${fn} SYMBOLIC)
  endforeach()
endfunction()

# nam_sees(TARGET room...): it may include the headers of these rooms.
function(nam_sees target)
  foreach(room ${ARGN})
    string(REPLACE "/" "_" room ${room})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/sees/outside/${room})
  endforeach()
endfunction()

# nam_sees_inside(TARGET room...): it may also include their internal headers, and headers of their folders: for tests of the
# whole house.
function(nam_sees_inside target)
  foreach(room ${ARGN})
    string(REPLACE "/" "_" room ${room})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/sees/inside/${room})
  endforeach()
endfunction()

# nam_program(NAME FOLDER USES room...): a program of that folder's files. It sees these rooms, and has the code of them and
# of what they use.
function(nam_program name folder)
  cmake_parse_arguments(R "" "" "USES" ${ARGN})
  file(GLOB src CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.c)
  add_executable(${name} ${src})
  nam_sees(${name} ${R_USES} base)
  string(REPLACE "/" "_" uses "${R_USES};base")
  list(TRANSFORM uses PREPEND nam_)
  target_link_libraries(${name} PRIVATE ${uses})
  set_property(GLOBAL APPEND_STRING PROPERTY NAM_PROGRAMS "${name}: ${uses}\n")
endfunction()

# nam_map_write(): which library uses which, one line each, and which program has which, for tests/rooms.sh.
function(nam_map_write)
  get_property(map GLOBAL PROPERTY NAM_MAP)
  file(WRITE ${CMAKE_BINARY_DIR}/rooms.map "${map}")
  get_property(map GLOBAL PROPERTY NAM_PROGRAMS)
  file(WRITE ${CMAKE_BINARY_DIR}/programs.map "${map}")
endfunction()

# nam_link(NAME libs...): what a room needs from outside the house.
function(nam_link name)
  string(REPLACE "/" "_" lib ${name})
  target_link_libraries(nam_${lib} PUBLIC ${ARGN})
endfunction()
