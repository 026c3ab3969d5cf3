# find_package(Plimsoll) gives
#   Plimsoll::runtime, Plimsoll::kernels   what a compiled model links
#   Plimsoll::plimc                        the compiler, where it was built
#   plim_add_model                         a model as a part of a target: PlimAddModel.cmake
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/PlimsollTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/PlimAddModel.cmake)
