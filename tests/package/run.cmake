# SPDX-License-Identifier: Apache-2.0
# Called by the test package.installed_consumer with -D build_dir, consumer_dir, work_dir, libdir,
# cxx, version, pkg_config.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect_version program)
  execute_process(COMMAND "${program}" OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT said STREQUAL "Tutti ${version}")
    message(FATAL_ERROR "${program}: expected \"Tutti ${version}\", got \"${said}\"")
  endif()
endfunction()

set(prefix "${work_dir}/prefix")
file(REMOVE_RECURSE "${work_dir}")
run("${CMAKE_COMMAND}" --install "${build_dir}" --prefix "${prefix}")

# find_package
run("${CMAKE_COMMAND}" -S "${consumer_dir}" -B "${work_dir}/cmake" -G Ninja
    "-DCMAKE_CXX_COMPILER=${cxx}" "-DCMAKE_PREFIX_PATH=${prefix}" "-DTutti_VERSION_WANTED=${version}")
run("${CMAKE_COMMAND}" --build "${work_dir}/cmake")
expect_version("${work_dir}/cmake/consumer")

# pkg-config
set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig")
execute_process(COMMAND "${pkg_config}" --cflags --libs tutti OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${cxx}" -std=c++20 "${consumer_dir}/main.cpp" -o "${work_dir}/pc_consumer" ${flags}
    "-Wl,-rpath,${prefix}/${libdir}")
expect_version("${work_dir}/pc_consumer")
