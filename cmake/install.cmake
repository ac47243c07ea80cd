# SPDX-License-Identifier: Apache-2.0
# install(), the CMake package (COMPONENTS mpi, eigen), tutti.pc and the Debian package.
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Tutti")

# One export set a component, so that a component that was not built is simply not there.
foreach(component tutti mpi eigen)
  if(component STREQUAL "tutti")
    set(target tutti)
  else()
    set(target tutti_${component})
  endif()
  if(NOT TARGET ${target})
    continue()
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  install(
    TARGETS ${target}
    EXPORT Tutti_${component}
    FILE_SET HEADERS)
  install(
    EXPORT Tutti_${component}
    NAMESPACE tutti::
    DESTINATION "${config_dir}")
endforeach()

configure_package_config_file(cmake/TuttiConfig.cmake.in "${PROJECT_BINARY_DIR}/TuttiConfig.cmake"
                              INSTALL_DESTINATION "${config_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TuttiConfig.cmake"
              "${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake" DESTINATION "${config_dir}")

# Relative to the place of the .pc file: the installed tree may be moved.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/tutti.pc.in "${PROJECT_BINARY_DIR}/tutti.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tutti.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME tutti)
  set(CPACK_PACKAGE_CONTACT "The Tutti authors")
  set(CPACK_PACKAGE_VENDOR "The Tutti authors")
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
  include(CPack)
endif()
