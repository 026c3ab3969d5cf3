# Installs the tools, the headers, the two libraries, and what lets other projects find them: a CMake package and a
# pkg-config file. Nothing of it holds an absolute path, so the prefix may be moved. The same package serves a build tree
# that is not installed: CMAKE_PREFIX_PATH (or Plimsoll_ROOT) names the build folder.
include(CMakePackageConfigHelpers)

set(package lib/cmake/Plimsoll)
set_target_properties(plim_rt PROPERTIES EXPORT_NAME runtime)
set_target_properties(plim_kernels PROPERTIES EXPORT_NAME kernels)
install(TARGETS plim_rt plim_kernels EXPORT PlimsollTargets ARCHIVE DESTINATION lib)
install(TARGETS plim-run plim-solve RUNTIME DESTINATION bin)
set(exported plim_rt plim_kernels)
if(PLIM_COMPILER)
  install(TARGETS plimc EXPORT PlimsollTargets RUNTIME DESTINATION bin)
  install(TARGETS plim-opt plim-dump RUNTIME DESTINATION bin)
  list(APPEND exported plimc)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/runtime/include/plim DESTINATION include)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/plimsoll)

set(config ${CMAKE_BINARY_DIR}/${package})
configure_file(${CMAKE_CURRENT_LIST_DIR}/PlimsollConfig.cmake ${config}/PlimsollConfig.cmake COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/PlimAddModel.cmake ${config}/PlimAddModel.cmake COPYONLY)
# Before 1.0, another minor version is another interface.
write_basic_package_version_file(${config}/PlimsollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/PlimsollConfig.cmake ${config}/PlimsollConfigVersion.cmake ${config}/PlimAddModel.cmake
  DESTINATION ${package})
install(EXPORT PlimsollTargets NAMESPACE Plimsoll:: DESTINATION ${package})
export(TARGETS ${exported} NAMESPACE Plimsoll:: FILE ${config}/PlimsollTargets.cmake)

configure_file(${CMAKE_CURRENT_LIST_DIR}/plimsoll.pc.in ${CMAKE_BINARY_DIR}/lib/pkgconfig/plimsoll.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/lib/pkgconfig/plimsoll.pc DESTINATION lib/pkgconfig)
