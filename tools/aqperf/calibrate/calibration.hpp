#pragma once

#include <aqueduct/network_model.hpp>

#include "tools/aqperf/measure/session.hpp"

#include <string>

namespace aqueduct::perf {

/// What was measured of two ranks.
struct Calibration {
  std::string conduit;
  std::string level;  ///< "core", "cache", "domain", "host" or "network"
  NetworkModel model;
  std::string network{};  ///< core::Properties::network
};

/// What `calibrate` will measure: the conduit, the level and the network. The same on all ranks. Collective.
Calibration to_measure(Session& session);

/// Measures what messages from rank 0 to the last rank cost, by their endpoints' clock; copies and sums by the system's.
/// The result is the same on both. Collective; other ranks only wait.
///
/// Requires: at least two ranks, and memory of kCalibratedBytes in the session.
Calibration calibrate(Session& session);

/// The largest put that is measured.
inline constexpr std::size_t kCalibratedBytes = 1 << 20;

/// Looks whether a calibration of this conduit and level can be written into the profile, which stays as it is. Errors: as
/// `write_profile`.
void check_profile(const std::string& file, const Calibration& calibration);

/// Writes a calibration into a profile: its level replaces that of the same name, and the others stay.
///
/// Errors: Failure: the file is of another machine, conduit or version, or damaged; it cannot be written.
void write_profile(const std::string& file, const Calibration& calibration);

/// A line of JSON: the conduit, the file that it was written to, and the level as in the profile.
std::string to_json(const Calibration& calibration, const std::string& file);

}  // namespace aqueduct::perf
