#pragma once

#include <array>
#include <string>

namespace aqueduct::core {

/// The same open file under a number of at least 3, closed on exec: 0 to 2 belong to the program, which may have closed
/// them and still writes to them. Takes `descriptor`; below 0 is an error's answer, which stays with its errno.
[[nodiscard]] int above_standard(int descriptor) noexcept;

/// Keeps the numbers 0 to 2 taken where they are free, so that no library opens anything there. To read or write there
/// fails as before, with EBADF, and programs that are started do not inherit it.
class StandardPlaces {
 public:
  StandardPlaces() noexcept;
  ~StandardPlaces() { free(); }
  StandardPlaces(const StandardPlaces&) = delete;
  StandardPlaces& operator=(const StandardPlaces&) = delete;
  /// Gives them back.
  void free() noexcept;

 private:
  std::array<bool, 3> taken_{};
};

/// For people, after EMFILE and ENFILE: which limit it was, and how to raise it. Else the system's own words.
std::string no_descriptor(int problem);

}  // namespace aqueduct::core
