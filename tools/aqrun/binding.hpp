#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <sched.h>

namespace aqrun {

/// Where each process may run; empty: wherever the system likes. Or why that cannot be had.
///
/// `kind` is what --bind names. "auto" binds to cores if each rank has one to itself; a single rank stays
/// free, so that small jobs side by side do not all sit on the first core.
std::variant<std::vector<cpu_set_t>, std::string> choose_binding(const std::string& kind,
                                                                 std::uint32_t processes,
                                                                 std::uint32_t ranks_per_process);

}  // namespace aqrun
