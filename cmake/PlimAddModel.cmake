# plim_add_model(<target> MODEL <file.onnx> [SHAPE name=dims ...] [BOUND name=lo..hi ...] [RAM size] [NAME prefix]
#                [FLAGS flag ...])
#
# Compiles a model when its file changes and links it into <target>: the target can include "<prefix>.h" (the default
# prefix is the model file's name) and use <prefix>_model. The weight file is at the path that the target property
# PLIM_WEIGHTS gives (a list, where the target has several models); it must be there when the program runs.
#
# In another project, include this file; PLIMSOLL_BUILD names the folder where Plimsoll was built (default: build, in
# its source tree). examples/cmake is such a project.
get_filename_component(_plim_source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

# The tools and libraries of a build tree as imported targets, where they are not targets of this project.
function(_plim_import build)
  foreach(library plim_rt plim_kernels)
    if(NOT TARGET ${library})
      set(file ${build}/lib/lib${library}.a)
      if(NOT EXISTS ${file})
        message(FATAL_ERROR "plim_add_model: need ${file}; set PLIMSOLL_BUILD to a folder where Plimsoll was built")
      endif()
      add_library(${library} STATIC IMPORTED GLOBAL)
      set_target_properties(${library} PROPERTIES IMPORTED_LOCATION ${file}
        INTERFACE_INCLUDE_DIRECTORIES ${_plim_source}/runtime/include)
    endif()
  endforeach()
  if(NOT TARGET plimc)
    add_executable(plimc IMPORTED GLOBAL)
    set_target_properties(plimc PROPERTIES IMPORTED_LOCATION ${build}/bin/plimc)
  endif()
endfunction()

function(plim_add_model target)
  cmake_parse_arguments(ARG "" "MODEL;RAM;NAME" "SHAPE;BOUND;FLAGS" ${ARGN})
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "plim_add_model(${target}): need MODEL <file.onnx>")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "plim_add_model(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT PLIMSOLL_BUILD)
    set(PLIMSOLL_BUILD ${_plim_source}/build)
  endif()
  _plim_import(${PLIMSOLL_BUILD})
  if(NOT ARG_NAME)
    get_filename_component(ARG_NAME ${ARG_MODEL} NAME_WE)
    string(MAKE_C_IDENTIFIER ${ARG_NAME} ARG_NAME)
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.plim)
  set(flags --name=${ARG_NAME} ${ARG_FLAGS})
  foreach(shape ${ARG_SHAPE})
    list(APPEND flags --shape=${shape})
  endforeach()
  foreach(bound ${ARG_BOUND})
    list(APPEND flags --bound=${bound})
  endforeach()
  if(ARG_RAM)
    list(APPEND flags --ram=${ARG_RAM})
  endif()
  get_filename_component(model ${ARG_MODEL} ABSOLUTE)
  # A model without parameters has no weight file, so that file is no output of the rule.
  add_custom_command(
    OUTPUT ${out}/model.o ${out}/${ARG_NAME}.h
    COMMAND plimc ${model} ${flags} -o ${out}
    COMMAND ${CMAKE_COMMAND} -E copy ${out}/model.h ${out}/${ARG_NAME}.h
    DEPENDS ${model} plimc
    COMMENT "Compiling ${ARG_NAME}"
    VERBATIM)
  set_source_files_properties(${out}/model.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${out}/model.o ${out}/${ARG_NAME}.h)
  target_include_directories(${target} PRIVATE ${out})
  set_property(TARGET ${target} APPEND PROPERTY PLIM_WEIGHTS ${out}/model.weights)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE plim_kernels plim_rt Threads::Threads m)
endfunction()
