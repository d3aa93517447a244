#pragma once

#include <string>
#include <string_view>

namespace aqueduct::sim {

/// Why the file cannot be written, for a look before the work whose results it takes; empty if it can. A file that is
/// there stays as it is. Of pipes and devices only writing itself shows it. `what`: "plot".
std::string output_problem(std::string_view what, const std::string& file);

}  // namespace aqueduct::sim
