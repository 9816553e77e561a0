# find_package(headrace) gives the imported target headrace::headrace: the library with its headers, wherever this
# folder lies. Where the whole engine is beside it, so does headrace::engine; a program links one of both.
get_filename_component(_headrace_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET headrace::headrace)
  add_library(headrace::headrace SHARED IMPORTED)
  set_target_properties(headrace::headrace PROPERTIES
    IMPORTED_LOCATION "${_headrace_prefix}/lib/libheadrace.so"
    IMPORTED_SONAME "libheadrace.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_headrace_prefix}/include")
endif()
if(NOT TARGET headrace::engine AND EXISTS "${_headrace_prefix}/lib/libheadrace_engine.so")
  add_library(headrace::engine SHARED IMPORTED)
  set_target_properties(headrace::engine PROPERTIES
    IMPORTED_LOCATION "${_headrace_prefix}/lib/libheadrace_engine.so"
    IMPORTED_SONAME "libheadrace_engine.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_headrace_prefix}/include")
endif()
unset(_headrace_prefix)
