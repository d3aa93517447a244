// How a file of decisions is changed.

#include "coll/tune/tuning_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::coll {

namespace {

constexpr std::chrono::milliseconds kLockPause{2};
constexpr int kNameTries = 8;  // names that another writer has already are as rare as equal 32-bit numbers

std::string last_error() { return std::strerror(errno); }

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
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

/// The lock of a file. One that another user has made may not be written here, and need not be.
Descriptor open_lock(const std::string& name) {
  int made = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made >= 0) {  // whoever may make files beside it may lock it: NFS wants a descriptor for writing
    const std::filesystem::path parent = std::filesystem::path(name).parent_path();
    struct stat folder {};
    if (::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0)
      static_cast<void>(::fchmod(made, 0644 | (folder.st_mode & 0022)));
    return Descriptor(made);
  }
  if (errno == EEXIST) made = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (made >= 0 || (errno != EACCES && errno != EPERM && errno != EROFS)) return Descriptor(made);
  const int problem = errno;
  const int present = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (present < 0) errno = problem;
  return Descriptor(present);
}

/// Gives a new file the rights of the one that it replaces: users of a group may share it.
void keep_rights(int fresh, const std::string& old) noexcept {
  struct stat rights {};
  if (::stat(old.c_str(), &rights) != 0) return;
  // Only members of the old one's group may give the new one to it.
  const bool same_group = ::fchown(fresh, static_cast<uid_t>(-1), rights.st_gid) == 0;
  const mode_t kept = same_group ? 0777 : 0707;
  static_cast<void>(::fchmod(fresh, rights.st_mode & kept));
}

/// A new file beside the old one. It has a name of its own: on some network file systems a lock holds on its host only, and
/// process ids of two hosts may be equal.
struct NewFile {
  std::string name;
  Descriptor descriptor;
  std::string problem;  ///< empty: it was made
};
NewFile make_beside(const std::string& file) {
  std::string name;
  int made = -1;
  for (int i = 0; i < kNameTries && made < 0; ++i) {
    name = fmt::format("{}.{:08x}.new", file, std::random_device{}());
    made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made < 0 && errno != EEXIST) break;
  }
  std::string problem = made < 0 ? fmt::format("{} cannot be made: {}", name, last_error()) : "";
  return {std::move(name), Descriptor(made), std::move(problem)};
}

/// Writes a new file, and puts it into the old one's place.
std::string replace(const std::string& file, std::string_view text) {
  NewFile fresh = make_beside(file);
  if (!fresh.problem.empty()) return std::move(fresh.problem);
  keep_rights(fresh.descriptor.number(), file);
  std::string problem;
  if (!write_all(fresh.descriptor.number(), text))
    problem = fmt::format("{} cannot be written: {}", fresh.name, last_error());
  if (problem.empty() && ::rename(fresh.name.c_str(), file.c_str()) != 0)
    problem = fmt::format("{} cannot be replaced: {}", file, last_error());
  if (!problem.empty()) ::unlink(fresh.name.c_str());
  return problem;
}

/// A file under its lock, with what it says.
struct HeldFile {
  Descriptor guard;
  DecisionsByNetwork decisions;
  std::string problem;  ///< empty; or why it cannot be changed
};

HeldFile hold(const std::string& file, const TuningPlace& place, std::chrono::milliseconds patience,
              AddedSpan added) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  const std::string name = file + ".lock";
  HeldFile held{open_lock(name), {}, {}};
  const auto refuse = [&](std::string problem) {
    held.problem = std::move(problem);
    return std::move(held);
  };
  if (held.guard.number() < 0)
    return refuse(error ? fmt::format("{} cannot be made: {}", folder.string(), error.message())
                        : fmt::format("{} cannot be opened: {}", name, last_error()));
  if (!lock(held.guard.number(), patience)) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return refuse(fmt::format("{} is locked by another process, for {} ms so far; {} is not changed", name,
                                patience.count(), file));
    return refuse(fmt::format("{} cannot be locked: {}; {} is not changed", name, last_error(), file));
  }
  const bool exists = std::filesystem::exists(file, error);
  if (error)
    return refuse(fmt::format("{} is not changed: it cannot be looked at: {}", file, error.message()));
  if (!exists) return held;
  TuningRead old = load_tuning(file, place, added);
  if (!old.problem.empty())
    return refuse(fmt::format("{} is not changed: {}. Remove it, or name another file", file, old.problem));
  if (old.unknown != 0)
    return refuse(fmt::format(
        "{} is not changed: {} of its entries are damaged, of a later version of this library, or of "
        "algorithms that another program has added. Remove it, or name another file",
        file, old.unknown));
  held.decisions = std::move(old.by_network);
  return held;
}

}  // namespace

std::string save_tuning(const std::string& file, const TuningPlace& place,
                        std::span<const Decision> decisions, std::chrono::milliseconds patience,
                        AddedSpan added) {
  HeldFile held = hold(file, place, patience, added);
  if (!held.problem.empty()) return std::move(held.problem);
  std::vector<Decision>& ours = held.decisions[place.network];
  ours.insert(ours.end(), decisions.begin(), decisions.end());
  const std::string text = tuning_text_by_network(place, held.decisions);
  if (text.size() > kMostTuningText)
    return fmt::format(
        "{} is not changed: with these decisions it would have more than {} bytes. Name another file", file,
        kMostTuningText);
  return replace(file, text);
}

std::string why_not_saved(const std::string& file, const TuningPlace& place,
                          std::chrono::milliseconds patience, AddedSpan added) {
  HeldFile held = hold(file, place, patience, added);
  if (!held.problem.empty()) return std::move(held.problem);
  NewFile fresh = make_beside(file);
  if (!fresh.problem.empty()) return std::move(fresh.problem);
  ::unlink(fresh.name.c_str());
  // There only the owner of a file, or of the folder, replaces it.
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  struct stat folder {};
  struct stat old {};
  if (::geteuid() != 0 && ::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
      (folder.st_mode & S_ISVTX) != 0 && folder.st_uid != ::geteuid() && ::lstat(file.c_str(), &old) == 0 &&
      old.st_uid != ::geteuid())
    return fmt::format("{} cannot be replaced: it is another user's, in a folder with the sticky bit", file);
  return {};
}

}  // namespace aqueduct::coll
