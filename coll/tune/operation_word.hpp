#pragma once

#include "coll/schedule/shape.hpp"

#include <string_view>

namespace aqueduct::coll {

/// "all_reduce"
constexpr std::string_view operation_word(Operation operation) noexcept {
  switch (operation) {
    case Operation::barrier: return "barrier";
    case Operation::broadcast: return "broadcast";
    case Operation::scatter: return "scatter";
    case Operation::gather: return "gather";
    case Operation::all_gather: return "all_gather";
    case Operation::all_to_all: return "all_to_all";
    case Operation::reduce: return "reduce";
    case Operation::all_reduce: return "all_reduce";
    case Operation::reduce_scatter: return "reduce_scatter";
    case Operation::scan: return "scan";
    case Operation::exscan: return "exscan";
    case Operation::permute: return "permute";
    case Operation::scatter_v: return "scatter_v";
    case Operation::gather_v: return "gather_v";
    case Operation::all_gather_v: return "all_gather_v";
    case Operation::all_to_all_v: return "all_to_all_v";
  }
  return "?";
}

}  // namespace aqueduct::coll
