#include <aqueduct/piece_sizes.hpp>

#include "core/network_profile.hpp"
#include "tools/aqperf/calibrate/calibration.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace aqueduct::perf {
namespace {

using nlohmann::ordered_json;

/// Ranges of sizes, [[from, to], …].
ordered_json ranges_of(const PieceSizes& sizes, PieceSizes::Verdict verdict) {
  ordered_json list = ordered_json::array();
  for (const PieceSizes::Range& range : sizes.ranges) {
    if (range.verdict == verdict) list.push_back({range.from, range.to});
  }
  return list;
}

ordered_json level_as_json(const Calibration& calibration) {
  const NetworkModel& model = calibration.model;
  ordered_json level;
  if (!calibration.network.empty()) level["over"] = calibration.network;
  level["injection_depth"] = model.injection_depth;
  level["inline_limit"] = model.inline_limit;
  level["peak_bytes"] = model.peak_bytes;
  level["rendezvous_limit"] = model.rendezvous_limit;
  level["copy_femtoseconds_per_byte"] = model.copy_femtoseconds_per_byte;
  level["reduce_femtoseconds_per_byte"] = model.reduce_femtoseconds_per_byte;
  if (model.turn.count() != 0) level["turn_ps"] = model.turn.count();
  for (const NetworkCost& cost : model.costs()) {
    level["costs"].push_back({{"bytes", cost.bytes},
                              {"latency_ps", cost.latency.count()},
                              {"overhead_ps", cost.overhead.count()},
                              {"gap_ps", cost.gap.count()},
                              {"femtoseconds_per_byte", cost.femtoseconds_per_byte},
                              {"interval_ps", cost.interval.count()}});
  }
  // For people: a reader computes them from the costs.
  const PieceSizes sizes = piece_sizes(model);
  level["good_sizes"] = ranges_of(sizes, PieceSizes::Verdict::good);
  level["bad_sizes"] = ranges_of(sizes, PieceSizes::Verdict::bad);
  return level;
}

/// The profile that the file holds already; a new one if there is no file.
ordered_json present(const std::string& file, const Calibration& calibration) {
  std::error_code ignored;
  const std::filesystem::file_type type = std::filesystem::status(file, ignored).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular)
    throw Failure(fmt::format("{} is no file: give another one by --profile", file), 1);
  std::ifstream in(file, std::ios::binary);
  if (!in && type == std::filesystem::file_type::regular)
    throw Failure(fmt::format("{} cannot be read, and is not changed: give another file by --profile", file),
                  1);
  if (!in) {
    return {{"format", core::kProfileFormat},
            {"version", core::kProfileVersion},
            {"machine", core::machine_name()},
            {"conduit", calibration.conduit},
            {"levels", ordered_json::object()}};
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const core::ProfileRead read = core::read_profile(text, core::machine_name(), calibration.conduit);
  if (!read.problem.empty())
    throw Failure(fmt::format("{} is not changed: {}. Remove it, or give another file by --profile", file,
                              read.problem),
                  1);
  ordered_json profile = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!profile.is_object())  // it has parts that our own reader passes over
    throw Failure(
        fmt::format("{} is not changed: it is damaged. Remove it, or give another file by --profile", file),
        1);
  if (profile["machine"] == core::machine_name()) return profile;
  // Of another machine of this kind. What is between hosts is the same for both.
  ordered_json& levels = profile["levels"];
  const bool has_others = levels.size() > (levels.contains(std::string(core::kBetweenHosts)) ? 1 : 0);
  if (!has_others) {
    profile["machine"] = core::machine_name();
  } else if (calibration.level != core::kBetweenHosts) {
    throw Failure(
        fmt::format("{} is not changed: it has levels inside another host (\"{}\"). Remove it, or give "
                    "another file by --profile",
                    file, profile["machine"].get<std::string>()),
        1);
  }
  return profile;
}

/// Other calibrations add their levels to the same file.
class FileLock {
 public:
  explicit FileLock(const std::string& name)
      : descriptor_(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw Failure(fmt::format("{} cannot be made: {}", name, std::strerror(errno)), 1);
    // Whoever holds it may have been stopped.
    for (int tries = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      const int why = errno;
      if ((why == EWOULDBLOCK || why == EINTR) && tries < 500) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        continue;
      }
      ::close(descriptor_);
      throw Failure(why == EWOULDBLOCK ? fmt::format("{} is locked by another process, for 5 s so far", name)
                                       : fmt::format("{} cannot be locked: {}", name, std::strerror(why)),
                    1);
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

/// Profiles are written beside the old one and renamed, so that a job that starts meanwhile reads the old one or the new one.
std::string fresh_name(const std::string& file) { return file + ".new"; }

void write_fresh(const std::string& fresh, const std::string& text) {
  errno = 0;
  std::ofstream out(fresh, std::ios::binary);
  const bool is_open = out.is_open();
  out << text;
  out.flush();
  if (out) return;
  const std::string why = std::strerror(errno != 0 ? errno : EIO);
  std::error_code ignored;
  if (is_open) std::filesystem::remove(fresh, ignored);
  throw Failure(
      fmt::format("{} cannot be written ({}): give a file in a folder of yours by --profile", fresh, why), 1);
}

}  // namespace

void check_profile(const std::string& file, const Calibration& calibration) {
  // Before there is a lock, which stays: beside a file that is no profile it may mean something to others, as /etc/passwd.lock does.
  static_cast<void>(present(file, calibration));
  const FileLock lock(file + ".lock");
  ordered_json profile = present(file, calibration);
  profile["levels"][calibration.level] = level_as_json(calibration);
  // A disk may be full. What will be written is longer by the costs, which are not known yet.
  write_fresh(fresh_name(file), profile.dump(2) + '\n');
  std::error_code ignored;
  std::filesystem::remove(fresh_name(file), ignored);
}

void write_profile(const std::string& file, const Calibration& calibration) {
  const FileLock lock(file + ".lock");
  ordered_json profile = present(file, calibration);
  profile["levels"][calibration.level] = level_as_json(calibration);
  const std::string fresh = fresh_name(file);
  write_fresh(fresh, profile.dump(2) + '\n');
  std::error_code error;
  std::filesystem::rename(fresh, file, error);
  if (error) throw Failure(fmt::format("{} cannot be replaced: {}", file, error.message()), 1);
}

std::string to_json(const Calibration& calibration, const std::string& file) {
  ordered_json line{{"bench", "calibrate"}, {"conduit", calibration.conduit}, {"file", file}};
  line["level"] = calibration.level;
  line["model"] = level_as_json(calibration);
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace aqueduct::perf
