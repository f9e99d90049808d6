# Commands and variables that are known of the toolkit's FindMUSA, and no others.
#
#   musa_add_executable(<target> <source>... [OPTIONS <flag>...])
#   musa_add_library(<target> <source>... [STATIC | SHARED | MODULE] [OPTIONS <flag>...])
#   musa_include_directories(<folder>...)
#
# Sources that end in .mu or .cu, and those with the property MUSA_SOURCE_PROPERTY_FORMAT OBJ, go to mcc with the flags
# of MUSA_MCC_FLAGS and OPTIONS. As in CMake's FindCUDA, the target's include folders and definitions reach mcc, its
# compile options do not, and the runtime is linked in the signature that MUSA_LINK_LIBRARIES_KEYWORD says.

include(FindPackageHandleStandardArgs)

get_filename_component(MUSA_TOOLKIT_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(MUSA_INCLUDE_DIRS "${MUSA_TOOLKIT_ROOT_DIR}/include")
find_library(MUSA_RUNTIME_OF_STAND_IN musart PATHS "${MUSA_TOOLKIT_ROOT_DIR}/lib" NO_DEFAULT_PATH)
set(MUSA_LIBRARIES "${MUSA_RUNTIME_OF_STAND_IN}")
find_package_handle_standard_args(MUSA REQUIRED_VARS MUSA_INCLUDE_DIRS MUSA_LIBRARIES)

macro(musa_include_directories)
  list(APPEND _musa_include_directories ${ARGN})
endmacro()

# Splits the arguments of musa_add_* at OPTIONS, and turns sources for mcc into objects.
function(_musa_sources_to_objects target sources_variable)
  set(sources)
  set(options)
  set(current sources)
  foreach(argument IN LISTS ARGN)
    if(argument STREQUAL "OPTIONS")
      set(current options)
    else()
      list(APPEND ${current} "${argument}")
    endif()
  endforeach()
  set(result)
  foreach(source IN LISTS sources)
    get_source_file_property(format "${source}" MUSA_SOURCE_PROPERTY_FORMAT)
    if(source MATCHES "\\.(mu|cu)$" OR format STREQUAL "OBJ")
      _musa_compile(object ${target} "${source}" "${options}")
      list(APPEND result "${object}")
    else()
      list(APPEND result "${source}")
    endif()
  endforeach()
  set(${sources_variable} ${result} PARENT_SCOPE)
endfunction()

function(_musa_compile object_variable target source options)
  get_filename_component(name "${source}" NAME)
  get_filename_component(path "${source}" ABSOLUTE)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${target}_generated_${name}.o")
  get_filename_component(folder "${object}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(language)
  if(NOT source MATCHES "\\.mu$")
    set(language -x musa)
  endif()
  set(own_includes)
  foreach(directory IN LISTS _musa_include_directories MUSA_INCLUDE_DIRS)
    list(APPEND own_includes "-I${directory}")
  endforeach()
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${MUSA_TOOLKIT_ROOT_DIR}/bin/mcc" ${MUSA_MCC_FLAGS} ${options} ${own_includes}
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            ${language} -c "${path}" -o "${object}"
    DEPENDS "${path}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${object_variable} "${object}" PARENT_SCOPE)
endfunction()

macro(musa_add_executable target)
  _musa_sources_to_objects(${target} _musa_sources ${ARGN})
  add_executable(${target} ${_musa_sources})
  _musa_finish(${target})
endmacro()

macro(musa_add_library target)
  _musa_sources_to_objects(${target} _musa_sources ${ARGN})
  add_library(${target} ${_musa_sources})
  _musa_finish(${target})
endmacro()

function(_musa_finish target)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PRIVATE ${MUSA_INCLUDE_DIRS})
  target_link_libraries(${target} ${MUSA_LINK_LIBRARIES_KEYWORD} ${MUSA_LIBRARIES})
endfunction()
