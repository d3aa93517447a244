#include "sim/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::sim {

namespace {

using Type = std::filesystem::file_type;

bool is_special(Type type) noexcept {
  return type == Type::character || type == Type::fifo || type == Type::socket || type == Type::block;
}

/// A file without a name, which leaves nothing if this process is killed before it gets one. -1: this folder has none.
int nameless_beside(const std::string& place) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;  // by which it gets its name
  const std::string folder = std::filesystem::path(place).parent_path().string();
  return ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

}  // namespace

std::string output_problem(std::string_view what, const std::string& file) {
  std::error_code ignored;
  const auto type = std::filesystem::status(file, ignored).type();
  if (is_special(type)) return {};  // the reader of a pipe would see its end
  errno = 0;
  const std::ofstream out(file, std::ios::app);  // keeps what is in it
  // A link to a file that did not exist keeps the file.
  if (out && type == Type::not_found &&
      !std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored)))
    std::filesystem::remove(file, ignored);
  return out ? std::string()
             : fmt::format("the {} {} cannot be written: {}", what, file, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!fresh_.empty()) ::unlink(fresh_.c_str());
}

void OutputFile::open() {
  std::error_code error;
  const Type type = std::filesystem::symlink_status(name_, error).type();
  place_ = type == Type::symlink ? std::filesystem::canonical(name_, error).string() : name_;
  if (!place_.empty() && !is_special(std::filesystem::status(place_, error).type()) &&
      !std::filesystem::is_directory(place_, error)) {
    fresh_ = fmt::format("{}.{:08x}.new", place_, std::random_device{}());
    int made = nameless_beside(place_);
    nameless_ = made >= 0;
    if (!nameless_) made = ::open(fresh_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat old {};
    if (made >= 0 && ::stat(place_.c_str(), &old) == 0) static_cast<void>(::fchmod(made, old.st_mode & 0777));
    if (made >= 0) file_ = ::fdopen(made, "w");
  }
  if (file_ != nullptr) return;
  fresh_.clear();
  file_ = std::fopen(name_.c_str(), "w");
  if (file_ == nullptr) fail();
}

void OutputFile::fail() noexcept {
  if (problem_ == 0) problem_ = errno != 0 ? errno : EIO;
}

void OutputFile::write(std::string_view text) {
  errno = 0;
  if (file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputFile::give_name() {
  const std::string open_file = fmt::format("/proc/self/fd/{}", ::fileno(file_));
  if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, fresh_.c_str(), AT_SYMLINK_FOLLOW) != 0) fail();
}

std::string OutputFile::finish() {
  errno = 0;
  if (file_ != nullptr && std::fflush(file_) != 0) fail();
  if (file_ != nullptr && !fresh_.empty() && nameless_ && problem_ == 0) give_name();
  if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  if (!fresh_.empty()) {
    if (problem_ == 0 && ::rename(fresh_.c_str(), place_.c_str()) != 0) fail();
    if (problem_ != 0) ::unlink(fresh_.c_str());
  }
  return problem_ == 0 ? std::string() : std::string(std::strerror(problem_));
}

}  // namespace aqueduct::sim
