# Imported targets of the toolkit's MUSAToolkit: those that were seen in public code, and those that only the pattern of
# CMake's FindCUDAToolkit lets one expect. musify reports the latter (MUS513).

include(FindPackageHandleStandardArgs)

get_filename_component(_musa_toolkit "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(_musa_seen musart musart_static mublas mublas_static mublasLt mufft musolver)
set(_musa_expected murand musparse)

foreach(_musa_name IN LISTS _musa_seen _musa_expected)
  find_library(MUSA_${_musa_name}_OF_STAND_IN ${_musa_name} PATHS "${_musa_toolkit}/lib" NO_DEFAULT_PATH)
  if(MUSA_${_musa_name}_OF_STAND_IN AND NOT TARGET MUSA::${_musa_name})
    add_library(MUSA::${_musa_name} UNKNOWN IMPORTED)
    set_target_properties(MUSA::${_musa_name} PROPERTIES
      IMPORTED_LOCATION "${MUSA_${_musa_name}_OF_STAND_IN}"
      INTERFACE_INCLUDE_DIRECTORIES "${_musa_toolkit}/include")
  endif()
endforeach()
find_library(MUSA_driver_OF_STAND_IN musa PATHS "${_musa_toolkit}/lib" NO_DEFAULT_PATH)
if(MUSA_driver_OF_STAND_IN AND NOT TARGET MUSA::musa_driver)
  add_library(MUSA::musa_driver UNKNOWN IMPORTED)
  set_target_properties(MUSA::musa_driver PROPERTIES
    IMPORTED_LOCATION "${MUSA_driver_OF_STAND_IN}"
    INTERFACE_INCLUDE_DIRECTORIES "${_musa_toolkit}/include")
endif()
find_package_handle_standard_args(MUSAToolkit REQUIRED_VARS MUSA_musart_OF_STAND_IN)
