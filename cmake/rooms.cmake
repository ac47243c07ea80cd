# SPDX-License-Identifier: Apache-2.0
# Who may know whom, made physical. Internal headers are included as "room/x.hpp". Each room is
# linked into a folder of its own, ${PROJECT_BINARY_DIR}/rooms/<room>/<room>, and a target gets -I
# only for the rooms that it may see: an include in the wrong direction does not compile.

foreach(room primitives collectives moe bench)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/rooms/${room}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${PROJECT_BINARY_DIR}/rooms/${room}/${room}"
       SYMBOLIC)
endforeach()

include(CheckIPOSupported)
check_ipo_supported(RESULT tutti_ipo OUTPUT tutti_no_ipo LANGUAGES CXX)

# For what is in libtutti: a small collective takes 100 ns, in which calls between its files show.
function(tutti_optimised_as_one target)
  set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE "${tutti_ipo}")
  target_compile_options(
    ${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fno-semantic-interposition>)
endfunction()

# What every target of the house is compiled with.
function(tutti_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  set_target_properties(
    ${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                         VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
endfunction()

# Let a target include "<room>/x.hpp" of the rooms named.
function(tutti_sees target)
  foreach(room IN LISTS ARGN)
    target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/rooms/${room}")
  endforeach()
  if(TUTTI_DELAY_POINTS)
    target_compile_definitions(${target} PRIVATE TUTTI_DELAY_POINTS=1)
  endif()
  if(TUTTI_ASSUME_REACHABLE)
    target_compile_definitions(${target} PRIVATE TUTTI_ASSUME_REACHABLE=1)
  endif()
  if(TUTTI_FEW_SIMD_TARGETS)
    target_compile_definitions(${target} PRIVATE TUTTI_FEW_SIMD_TARGETS=1)
  endif()
endfunction()

# tutti_room(primitives SEES primitives): the OBJECT library tutti_primitives. Its sources follow
# with target_sources.
function(tutti_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SEES")
  set(target tutti_${room})
  # This file is listed so that a room without sources is a valid target.
  add_library(${target} OBJECT CMakeLists.txt)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  tutti_defaults(${target})
  tutti_optimised_as_one(${target})
  tutti_sees(${target} ${arg_SEES})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include"
                                              "${PROJECT_BINARY_DIR}/include")
  target_compile_definitions(${target} PRIVATE tutti_EXPORTS)
  target_link_libraries(${target} PRIVATE Threads::Threads fmt::fmt-header-only)
endfunction()

# What libtutti and libtutti_mpi have in common.
function(tutti_shared_library target)
  tutti_defaults(${target})
  tutti_optimised_as_one(${target})
  set(map "${PROJECT_SOURCE_DIR}/cmake/exports.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" LINKER:-z,defs)
  target_compile_features(${target} INTERFACE cxx_std_20)
  # $ORIGIN: libtutti finds libtutti_mpi beside itself, and the other way round.
  set_target_properties(
    ${target}
    PROPERTIES LINKER_LANGUAGE CXX
               VERSION ${PROJECT_VERSION}
               SOVERSION ${tutti_soversion}
               LINK_DEPENDS "${map}"
               LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
               BUILD_RPATH "$ORIGIN"
               INSTALL_RPATH "$ORIGIN")
endfunction()

# tutti_program(name sources...): an executable on the public headers only, part of `programs`.
function(tutti_program name)
  add_executable(${name} ${ARGN})
  tutti_defaults(${name})
  target_link_libraries(${name} PRIVATE tutti::tutti Threads::Threads)
  add_dependencies(programs ${name})
endfunction()
