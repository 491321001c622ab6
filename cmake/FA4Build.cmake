# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# How every target of fa4 is compiled and linked.
#
#   fa4_add_library(NAME SOURCES ... [LINK_LIBS ...] [DEPENDS ...] [NO_MLIR])
#   fa4_add_tool(NAME SOURCES ... [LINK_LIBS ...] [NO_MLIR])
#   fa4_add_plugin(NAME SOURCES ... [LINK_LIBS ...])
#   fa4_add_unittest(NAME SOURCES ... [LINK_LIBS ...] [NO_MLIR])
#   fa4_add_passes(LAYER)          Passes.td -> Passes.h.inc, registerFA4<LAYER>Passes
#   fa4_add_subdirectory_if_present(DIR)

# Debian's packages export both the dylibs and the static archives, and do not
# say which to take. Mixing them duplicates every TypeID: take the dylibs.
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)

set(FA4_INCLUDE_DIR "${PROJECT_SOURCE_DIR}/include")
set(FA4_GENERATED_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")

# Tools and libraries share one precompiled header, so they share one code model.
add_compile_options(-fPIC -Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  -Wimplicit-fallthrough -fvisibility-inlines-hidden -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld FA4_HAVE_LLD)
if(FA4_HAVE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
if(CMAKE_GENERATOR MATCHES Ninja)
  add_compile_options(-fdiagnostics-color=auto)
endif()

if(FA4_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(FA4_CCACHE ccache)
  if(FA4_CCACHE)
    # A precompiled header is keyed by its content, not by the macros that made it.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${FA4_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()

# The settings of code that includes MLIR or LLVM headers.
function(fa4_use_mlir target)
  # FA4Config.cmake adds them again, from wherever MLIR is installed by then.
  foreach(dir ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${dir}>)
  endforeach()
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  # As LLVM was built: with RTTI, without exceptions.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
endfunction()
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
list(TRANSFORM LLVM_DEFINITIONS_LIST REPLACE "^-D" "")

# The header: what nearly every file of the compiler includes, none of it ours,
# so that an edit of ours never rebuilds it.
if(FA4_USE_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/FA4PCH.cpp CONTENT "")
  add_library(FA4PCH OBJECT ${PROJECT_BINARY_DIR}/FA4PCH.cpp)
  fa4_use_mlir(FA4PCH)
  target_precompile_headers(FA4PCH PRIVATE ${PROJECT_SOURCE_DIR}/cmake/FA4PCH.h)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Templates instantiated once in the header; no time stamp, so that ccache
    # sees equal headers as equal.
    target_compile_options(FA4PCH PRIVATE -fpch-instantiate-templates
      "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

function(_fa4_setup_target target no_mlir)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${FA4_INCLUDE_DIR}>
    $<BUILD_INTERFACE:${FA4_GENERATED_INCLUDE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(NOT no_mlir)
    fa4_use_mlir(${target})
    mlir_target_link_libraries(${target} PUBLIC MLIR)
    target_link_libraries(${target} PUBLIC LLVM)
    if(FA4_USE_PCH)
      target_precompile_headers(${target} REUSE_FROM FA4PCH)
      if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        target_compile_options(${target} PRIVATE -fpch-instantiate-templates
          "SHELL:-Xclang -fno-pch-timestamp")
      endif()
    endif()
  endif()
endfunction()

function(fa4_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(FA4::${name} ALIAS ${name})
  _fa4_setup_target(${name} "${ARG_NO_MLIR}")
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY FA4_LIBRARIES ${name})
  if(NOT ARG_NO_MLIR)
    set_property(GLOBAL APPEND PROPERTY FA4_MLIR_LIBRARIES ${name})
  endif()
  install(TARGETS ${name} EXPORT FA4Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(fa4_add_tool name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;LINK_LIBS;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _fa4_setup_target(${name} "${ARG_NO_MLIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY FA4_TOOLS ${name})
endfunction()

# A loadable module for a stock mlir-opt.
function(fa4_add_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK_LIBS" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  _fa4_setup_target(${name} "")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_target_properties(${name} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY FA4_PLUGINS ${name})
endfunction()

# A gtest executable; check-fa4 builds it and runs it through lit.
function(fa4_add_unittest name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "SOURCES;LINK_LIBS;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _fa4_setup_target(${name} "${ARG_NO_MLIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  set_property(GLOBAL APPEND PROPERTY FA4_UNITTESTS ${name})
endfunction()

# Declarations of a layer's passes from its Passes.td, as target FA4<LAYER>PassIncGen.
macro(fa4_add_passes layer)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name FA4${layer})
  add_public_tablegen_target(FA4${layer}PassIncGen)
endmacro()

function(fa4_add_subdirectory_if_present dir)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
    add_subdirectory(${dir})
  endif()
endfunction()
