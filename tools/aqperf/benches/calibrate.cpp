#include <aqueduct/piece_sizes.hpp>

#include "core/network_profile.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/calibrate/calibration.hpp"
#include "tools/aqperf/report/report.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace aqueduct::perf {
namespace {

std::string file_for(const Session& session, const Calibration& calibration) {
  const std::string& out = session.options().profile;
  if (!out.empty() && !core::is_profile_folder(out)) return out;
  return core::profile_file(out, calibration.conduit, calibration.level != core::kBetweenHosts);
}

/// Makes the folder of the profile, before minutes of measuring. Throws Failure if nothing can be written there.
void prepare_folder(const std::string& out) {
  std::error_code error;
  const bool is_folder = out.ends_with('/') || std::filesystem::is_directory(out, error);
  std::filesystem::path folder =
      is_folder ? std::filesystem::path(out) : std::filesystem::path(out).parent_path();
  if (folder.empty()) folder = ".";
  std::filesystem::create_directories(folder, error);
  if (error || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Failure(fmt::format("{} cannot be written to: {}; give a file in a folder of yours by --profile",
                              folder.string(), error ? error.message() : std::strerror(errno)),
                  1);
  }
}

}  // namespace

void calibrate_network(Session& session, Reporter&) {
  if (session.ranks() < 2) throw Failure("calibrate needs two ranks: give --ranks 2 or more", kUsageError);
  const Calibration wanted = to_measure(session);
  if (session.rank() == 0) {
    prepare_folder(session.options().profile);
    check_profile(file_for(session, wanted), wanted);
  }
  const Calibration found = calibrate(session);
  if (session.rank() != 0) return;
  const std::string file = file_for(session, found);
  write_profile(file, found);
  if (session.options().json) {
    fmt::print("{}\n", to_json(found, file));
    return;
  }
  const std::string over = found.network.empty() ? "" : fmt::format(" over {}", found.network);
  fmt::print("conduit {}{}, level {}: written to {}\n", found.conduit, over, found.level, file);
  fmt::print("  from bytes      L ns      o ns      g ns   G ns/KiB  interval ns\n");
  for (const NetworkCost& cost : found.model.costs()) {
    const auto ns = [](Picoseconds time) { return static_cast<double>(time.count()) / 1000; };
    fmt::print("  {:>10} {:>9.1f} {:>9.1f} {:>9.1f} {:>10.2f} {:>12.1f}\n", cost.bytes, ns(cost.latency),
               ns(cost.overhead), ns(cost.gap), static_cast<double>(cost.femtoseconds_per_byte) * 1024 / 1e6,
               ns(cost.interval));
  }
  fmt::print("  injection depth {}, inline limit {}, peak bandwidth from {} bytes, rendezvous from {}\n",
             found.model.injection_depth, found.model.inline_limit, found.model.peak_bytes,
             found.model.rendezvous_limit == 0 ? "no size" : std::to_string(found.model.rendezvous_limit));
  for (const PieceSizes::Range& range : piece_sizes(found.model).ranges) {
    if (range.verdict != PieceSizes::Verdict::fair)
      fmt::print("  pieces of {} to {} bytes are {}\n", range.from, range.to,
                 range.verdict == PieceSizes::Verdict::good ? "good" : "bad");
  }
  fmt::print("  copy {} fs a byte, sum {} fs a byte\n", found.model.copy_femtoseconds_per_byte,
             found.model.reduce_femtoseconds_per_byte);
}

}  // namespace aqueduct::perf
