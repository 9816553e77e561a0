# find_package(headrace) gives the imported target headrace::headrace: the library with its headers, wherever this
# folder lies.
get_filename_component(_headrace_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET headrace::headrace)
  add_library(headrace::headrace SHARED IMPORTED)
  set_target_properties(headrace::headrace PROPERTIES
    IMPORTED_LOCATION "${_headrace_prefix}/lib/libheadrace.so"
    IMPORTED_SONAME "libheadrace.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_headrace_prefix}/include")
endif()
unset(_headrace_prefix)
