# Compiler flags, output folders and the three functions by which every folder adds what it holds.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# -O2 with asserts kept: a plan that breaks an invariant must stop, also in a release.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# libstdc++ 12's stable_sort calls what it has marked deprecated itself.
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -Wno-deprecated-declarations -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()

find_program(PLIM_CCACHE ccache)
if(PLIM_CCACHE)
  # Precompiled headers are cached only with these; see the ccache manual, "Precompiled headers".
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${PLIM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Xclang$<SEMICOLON>-fno-pch-timestamp>)
endif()

if(PLIM_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PLIM_FUZZ: need Clang for libFuzzer, have ${CMAKE_CXX_COMPILER_ID}")
  endif()
  set(PLIM_SANITIZE ON)
  add_compile_options(-fsanitize=fuzzer-no-link -O1)
endif()
if(PLIM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)

# plim_freestanding(<target>...): code that a plain C program links. No exceptions, no RTTI, nothing of the C++ library.
function(plim_freestanding)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
  endforeach()
endfunction()

# plim_add_gtest(<name> SOURCES a.cpp ... LIBS lib ...): one GoogleTest program in build/test, known to ctest.
function(plim_add_gtest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  if(NOT PLIM_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# plim_add_fuzzer(<name> SOURCES a.cpp ... LIBS lib ... [MLIR]): one libFuzzer program in build/test/fuzz, made by the target
# `fuzzers`. With MLIR its sources are compiled as MLIR code is.
add_custom_target(fuzzers)
function(plim_add_fuzzer name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LIBS" ${ARGN})
  if(NOT PLIM_FUZZ)
    return()
  endif()
  if(ARG_MLIR)
    plim_add_mlir_tool(${name} SOURCES ${ARG_SOURCES} LIBS ${ARG_LIBS})
  else()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  endif()
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/fuzz)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()
