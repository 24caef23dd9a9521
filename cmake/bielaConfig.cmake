# find_package(biela) of an installed Biela: the targets
#
#   biela::shared     libbiela.so
#   biela::static     libbiela.a with the system libraries it needs
#   biela::biela      the shared one if there is one, else the static one
#
# each with the directory of biela.h and biela.hpp. Found from where this file lies, so the prefix may be moved.

get_filename_component(_biela_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_biela_directories lib lib64)
if(CMAKE_LIBRARY_ARCHITECTURE)
  list(APPEND _biela_directories "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()
# A C-only project may not know its architecture.
file(GLOB _biela_more RELATIVE "${_biela_prefix}" "${_biela_prefix}/lib/*-*-*")
list(APPEND _biela_directories ${_biela_more})

find_path(BIELA_INCLUDE_DIR biela.h
  PATHS "${_biela_prefix}/include" PATH_SUFFIXES biela NO_DEFAULT_PATH)
find_library(BIELA_SHARED_LIBRARY NAMES libbiela.so libbiela.dylib biela.dll.lib
  PATHS "${_biela_prefix}" PATH_SUFFIXES ${_biela_directories} NO_DEFAULT_PATH)
find_library(BIELA_STATIC_LIBRARY NAMES libbiela.a biela.lib
  PATHS "${_biela_prefix}" PATH_SUFFIXES ${_biela_directories} NO_DEFAULT_PATH)
mark_as_advanced(BIELA_INCLUDE_DIR BIELA_SHARED_LIBRARY BIELA_STATIC_LIBRARY)

include(FindPackageHandleStandardArgs)
if(BIELA_SHARED_LIBRARY)
  set(_biela_library BIELA_SHARED_LIBRARY)
else()
  set(_biela_library BIELA_STATIC_LIBRARY)
endif()
find_package_handle_standard_args(biela REQUIRED_VARS ${_biela_library} BIELA_INCLUDE_DIR VERSION_VAR biela_VERSION)

if(biela_FOUND)
  if(BIELA_SHARED_LIBRARY AND NOT TARGET biela::shared)
    add_library(biela::shared SHARED IMPORTED)
    set_target_properties(biela::shared PROPERTIES
      IMPORTED_LOCATION "${BIELA_SHARED_LIBRARY}"
      IMPORTED_IMPLIB "${BIELA_SHARED_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${BIELA_INCLUDE_DIR}")
  endif()
  if(BIELA_STATIC_LIBRARY AND NOT TARGET biela::static)
    add_library(biela::static STATIC IMPORTED)
    set_target_properties(biela::static PROPERTIES
      IMPORTED_LOCATION "${BIELA_STATIC_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${BIELA_INCLUDE_DIR}")
    # What the Rust standard library needs of the system.
    if(UNIX AND NOT APPLE)
      set_property(TARGET biela::static PROPERTY INTERFACE_LINK_LIBRARIES gcc_s util rt pthread m dl c)
    elseif(APPLE)
      set_property(TARGET biela::static PROPERTY INTERFACE_LINK_LIBRARIES System c m)
    elseif(WIN32)
      set_property(TARGET biela::static PROPERTY INTERFACE_LINK_LIBRARIES kernel32 ntdll userenv ws2_32 dbghelp)
    endif()
  endif()
  if(NOT TARGET biela::biela)
    add_library(biela::biela INTERFACE IMPORTED)
    if(TARGET biela::shared)
      set_property(TARGET biela::biela PROPERTY INTERFACE_LINK_LIBRARIES biela::shared)
    else()
      set_property(TARGET biela::biela PROPERTY INTERFACE_LINK_LIBRARIES biela::static)
    endif()
  endif()
endif()

unset(_biela_prefix)
unset(_biela_directories)
unset(_biela_more)
unset(_biela_library)
