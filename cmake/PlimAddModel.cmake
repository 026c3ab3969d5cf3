# plim_add_model(<target> MODEL <file.onnx> [SHAPE name=dims ...] [BOUND name=lo..hi ...] [RAM size] [NAME prefix]
#                [FLAGS flag ...])
#
# Compiles a model when its file changes and links it into <target>: the target can include "<prefix>.h" (the default
# prefix is the model file's name) and use <prefix>_model. The weight file is at the path that the target property
# PLIM_WEIGHTS gives; it must be there when the program runs.
function(plim_add_model target)
  cmake_parse_arguments(ARG "" "MODEL;RAM;NAME" "SHAPE;BOUND;FLAGS" ${ARGN})
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "plim_add_model(${target}): need MODEL <file.onnx>")
  endif()
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
  if(TARGET plimc)
    set(compiler plimc)
  else()
    set(compiler Plimsoll::plimc)
  endif()
  add_custom_command(
    OUTPUT ${out}/model.o ${out}/${ARG_NAME}.h ${out}/model.weights
    COMMAND ${compiler} ${model} ${flags} -o ${out}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${out}/model.h ${out}/${ARG_NAME}.h
    DEPENDS ${model} ${compiler}
    COMMENT "Compiling ${ARG_NAME}"
    VERBATIM)
  set_source_files_properties(${out}/model.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${out}/model.o ${out}/${ARG_NAME}.h)
  target_include_directories(${target} PRIVATE ${out})
  set_target_properties(${target} PROPERTIES PLIM_WEIGHTS ${out}/model.weights)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE plim_kernels plim_rt Threads::Threads m)
endfunction()
