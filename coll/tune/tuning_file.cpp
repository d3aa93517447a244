#include "coll/tune/tuning_file.hpp"

#include "core/network_profile.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace aqueduct::coll {

namespace {

constexpr std::size_t kMostText = std::size_t{4} << 20;  // chosen: ten times the most decisions of a table
constexpr std::chrono::milliseconds kLockPause{2};
constexpr int kNameTries = 8;  // names that another writer has already are as rare as equal 32-bit numbers

std::string why() { return std::strerror(errno); }

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Takes the lock. A writer that was stopped holds it for ever, and flock has no time limit of its own: so this looks again
/// after each short sleep, and gives up when it has slept for `patience`.
bool lock(int descriptor, std::chrono::milliseconds patience) noexcept {
  for (std::chrono::milliseconds slept{0};; slept += kLockPause) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if ((errno != EWOULDBLOCK && errno != EINTR) || slept >= patience) return false;
    std::this_thread::sleep_for(kLockPause);
  }
}

bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0;
}

/// Writes a new file beside the old one, and puts it into its place. The new one has a name of its own: on some network file
/// systems a lock holds on its host only, and process ids of two hosts may be equal.
std::string replace(const std::string& file, std::string_view text) {
  std::string fresh;
  std::string problem;
  {
    int made = -1;
    for (int i = 0; i < kNameTries && made < 0; ++i) {
      fresh = fmt::format("{}.{:08x}.new", file, std::random_device{}());
      made = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (made < 0 && errno != EEXIST) break;
    }
    const Descriptor out(made);
    if (out.number() < 0) return fmt::format("{} cannot be made: {}", fresh, why());
    if (!write_all(out.number(), text)) problem = fmt::format("{} cannot be written: {}", fresh, why());
  }
  if (problem.empty() && ::rename(fresh.c_str(), file.c_str()) != 0)
    problem = fmt::format("{} cannot be replaced: {}", file, why());
  if (!problem.empty()) ::unlink(fresh.c_str());
  return problem;
}

}  // namespace

std::string machine_kind() {
  const std::string name = core::machine_name();
  const std::size_t comma = name.find(", ");
  return comma == std::string::npos ? name : name.substr(comma + 2);
}

std::string tuning_file(const std::string& named, const TuningPlace& place) {
  std::error_code ignored;
  if (named.empty() || (named.back() != '/' && !std::filesystem::is_directory(named, ignored))) return named;
  std::uint32_t number = 0x811c9dc5;
  for (const char c : place.machine) number = (number ^ static_cast<unsigned char>(c)) * 0x01000193u;
  std::string conduit;
  for (const char c : place.conduit.substr(place.conduit.rfind('/') + 1))  // a plug-in's may be a path
    conduit += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}{}tuning-{}-{:08x}.json", named, named.back() == '/' ? "" : "/", conduit, number);
}

TuningRead load_tuning(const std::string& named, const TuningPlace& place) {
  const std::string file = tuning_file(named, place);
  TuningRead none;
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  // A folder need not have a file for each conduit.
  if (kind == std::filesystem::file_type::not_found && file != named) return none;
  std::ifstream in;
  errno = kind == std::filesystem::file_type::not_found ? ENOENT : EINVAL;
  if (kind == std::filesystem::file_type::regular) in.open(file, std::ios::binary);
  if (!in.is_open()) {
    none.problem = fmt::format("it cannot be read: {}; `aqtune` writes it", error ? error.message() : why());
    return none;
  }
  std::string text(kMostText + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostText) {
    none.problem = fmt::format("it has more than {} bytes; tune again with `aqtune`", kMostText);
    return none;
  }
  return read_tuning(text, place);
}

std::string save_tuning(const std::string& file, const TuningPlace& place,
                        std::span<const Decision> decisions, std::chrono::milliseconds patience) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  const std::string guard = file + ".lock";
  const Descriptor held(::open(guard.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (held.number() < 0) return fmt::format("{} cannot be made: {}", guard, why());
  if (!lock(held.number(), patience)) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return fmt::format("{} is locked by another process, for {} ms so far; {} is not changed", guard,
                         patience.count(), file);
    return fmt::format("{} cannot be locked: {}; {} is not changed", guard, why(), file);
  }
  std::vector<Decision> all;
  const bool exists = std::filesystem::exists(file, error);
  if (error) return fmt::format("{} is not changed: it cannot be looked at: {}", file, error.message());
  if (exists) {
    TuningRead old = load_tuning(file, place);
    if (!old.problem.empty())
      return fmt::format("{} is not changed: {}. Remove it, or name another file", file, old.problem);
    if (old.unknown != 0)
      return fmt::format(
          "{} is not changed: {} of its entries are damaged, or of a later version of this library. Remove "
          "it, or "
          "name another file",
          file, old.unknown);
    all = std::move(old.decisions);
  }
  all.insert(all.end(), decisions.begin(), decisions.end());
  const std::string text = tuning_text(place, all);
  if (text.size() > kMostText)
    return fmt::format(
        "{} is not changed: with these decisions it would have more than {} bytes. Name another file", file,
        kMostText);
  return replace(file, text);
}

}  // namespace aqueduct::coll
