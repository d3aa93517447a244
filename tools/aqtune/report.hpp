#pragma once

#include "coll/tune/tuning_file.hpp"

#include <span>
#include <string>

namespace aqueduct::aqtune {

/// One page in HTML: for each operation a map (members × bytes) of the fastest algorithms, and the curves of their times.
/// It needs nothing but a browser.
std::string report_page_by_network(const coll::TuningPlace& place, const coll::DecisionsByNetwork& decisions);
/// The same, of decisions that do not say their network.
std::string report_page(const coll::TuningPlace& place, std::span<const coll::Decision> decisions);

}  // namespace aqueduct::aqtune
