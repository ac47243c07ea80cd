// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything but `tutti/moe.hpp`, `tutti/pypto.hpp`, `tutti/mpi.hpp` and `tutti/eigen.hpp`.

#include "tutti/algorithm.hpp"
#include "tutti/atomics.hpp"
#include "tutti/collectives.hpp"
#include "tutti/counts.hpp"
#include "tutti/error.hpp"
#include "tutti/execution.hpp"
#include "tutti/job.hpp"
#include "tutti/options.hpp"
#include "tutti/order.hpp"
#include "tutti/prepare.hpp"
#include "tutti/problem.hpp"
#include "tutti/shape.hpp"
#include "tutti/signals.hpp"
#include "tutti/start.hpp"
#include "tutti/team.hpp"
#include "tutti/tensor.hpp"
#include "tutti/text.hpp"
#include "tutti/tile_signals.hpp"
#include "tutti/transfer.hpp"
#include "tutti/tuning.hpp"
#include "tutti/types.hpp"
#include "tutti/version.hpp"
#include "tutti/view.hpp"
#include "tutti/wait.hpp"
