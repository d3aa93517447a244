#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <sched.h>

namespace aqrun {

/// The processors of each process; empty: no process is bound. Or why the binding is not possible.
///
/// `kind` is the value of --bind; `ranks_of` has the number of ranks of each process here. "auto" binds to cores if each rank has a core to itself. It does not bind a single
/// rank, so that small jobs started side by side do not all run on the first core.
std::variant<std::vector<cpu_set_t>, std::string> choose_binding(const std::string& kind,
                                                                 std::span<const std::uint32_t> ranks_of);

}  // namespace aqrun
