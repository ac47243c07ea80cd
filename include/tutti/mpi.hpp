// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "tutti/team.hpp"

namespace tutti {

namespace detail {
TUTTI_API Team from_mpi_handle(const void* handle, std::size_t bytes, const Options& options);
}

/// Collective over `comm` (an `MPI_Comm`; a template, so that this header needs no `mpi.h`): the
/// first team of a program that has called `MPI_Init` itself; PE i is rank i. In `libtutti_mpi`.
/// MPI is used for the start-up only, and `comm` is not kept.
/// Errors: `InvalidArgument` before `MPI_Init`; else as `from_bootstrap`.
template <class Comm>
requires std::is_trivially_copyable_v<Comm> Team from_mpi(Comm comm, const Options& options = {}) {
  return detail::from_mpi_handle(&comm, sizeof comm, options);
}

}  // namespace tutti
