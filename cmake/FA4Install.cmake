# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What an out-of-tree project needs: find_package(FA4) gives FA4::FA4 and the
# libraries it is made of; headers, generated headers and .td files lie in include.

include(CMakePackageConfigHelpers)

foreach(root ${FA4_INCLUDE_DIR} ${FA4_GENERATED_INCLUDE_DIR})
  install(DIRECTORY ${root}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()

set(FA4_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/FA4)
get_property(FA4_MLIR_LIBRARIES GLOBAL PROPERTY FA4_MLIR_LIBRARIES)
install(EXPORT FA4Targets NAMESPACE FA4:: DESTINATION ${FA4_CONFIG_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FA4Config.cmake.in
  ${PROJECT_BINARY_DIR}/FA4Config.cmake INSTALL_DESTINATION ${FA4_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FA4ConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/FA4Config.cmake ${PROJECT_BINARY_DIR}/FA4ConfigVersion.cmake
  DESTINATION ${FA4_CONFIG_DIR})
