# plim_add_model(<target> MODEL <file.onnx> [SHAPE name=dims ...] [BOUND name=lo..hi ...] [STATE in=out ...]
#                [ENTRY name:bounds ...] [RAM size] [NAME prefix] [FLAGS flag ...])
#
# Compiles a model when its file changes and links it into <target>: the target can include "<prefix>.h" (the default
# prefix is the model file's name) and use <prefix>_model. The weight file is at the path that the target property
# PLIM_WEIGHTS gives (a list, where the target has several models); it must be there when the program runs.
#
# Part of the package: find_package(Plimsoll). examples/cmake is a project that uses it.
function(plim_add_model target)
  cmake_parse_arguments(ARG "" "MODEL;RAM;NAME" "SHAPE;BOUND;STATE;ENTRY;FLAGS" ${ARGN})
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "plim_add_model(${target}): need MODEL <file.onnx>")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "plim_add_model(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET Plimsoll::plimc)
    message(FATAL_ERROR "plim_add_model(${target}): need plimc, have a build of Plimsoll without the compiler")
  endif()
  if(NOT ARG_NAME)
    get_filename_component(ARG_NAME ${ARG_MODEL} NAME_WE)
    string(MAKE_C_IDENTIFIER ${ARG_NAME} ARG_NAME)
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.plim)
  set(flags --name=${ARG_NAME} ${ARG_FLAGS})
  foreach(flag SHAPE BOUND STATE ENTRY)
    string(TOLOWER ${flag} name)
    foreach(value ${ARG_${flag}})
      list(APPEND flags --${name}=${value})
    endforeach()
  endforeach()
  if(ARG_RAM)
    list(APPEND flags --ram=${ARG_RAM})
  endif()
  get_filename_component(model ${ARG_MODEL} ABSOLUTE)
  # A model without parameters has no weight file, so that file is no output of the rule.
  add_custom_command(
    OUTPUT ${out}/model.o ${out}/${ARG_NAME}.h
    COMMAND Plimsoll::plimc ${model} ${flags} -o ${out}
    COMMAND ${CMAKE_COMMAND} -E copy ${out}/model.h ${out}/${ARG_NAME}.h
    DEPENDS ${model} Plimsoll::plimc
    COMMENT "Compiling ${ARG_NAME}"
    VERBATIM)
  set_source_files_properties(${out}/model.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${out}/model.o ${out}/${ARG_NAME}.h)
  target_include_directories(${target} PRIVATE ${out})
  set_property(TARGET ${target} APPEND PROPERTY PLIM_WEIGHTS ${out}/model.weights)
  target_link_libraries(${target} PRIVATE Plimsoll::kernels Plimsoll::runtime m)
endfunction()
