#pragma once

#include <array>
#include <string>

namespace aqueduct::core {

/// Moves an open file to a descriptor of at least 3 that is closed on exec, and returns that descriptor. The
/// descriptors 0 to 2 belong to the program, which may have closed them and still write to them. A negative
/// `descriptor` (a failed open) is returned as it is, with errno unchanged.
/// Errors: negative, with errno; `descriptor` is closed.
[[nodiscard]] int above_standard(int descriptor) noexcept;

/// Occupies those of the descriptors 0 to 2 that the program has closed, so that no library opens a file there. Reading
/// and writing there still fail with EBADF, and programs that this one starts do not inherit them.
class StandardPlaces {
 public:
  StandardPlaces() noexcept;
  ~StandardPlaces() { free(); }
  StandardPlaces(const StandardPlaces&) = delete;
  StandardPlaces& operator=(const StandardPlaces&) = delete;
  /// Frees the occupied descriptors.
  void free() noexcept;

 private:
  std::array<bool, 3> taken_{};
};

/// The text for an error of a call that opens something. After EMFILE and ENFILE it says which limit was reached and
/// how to raise it; after other errors it is the system's text.
std::string no_descriptor(int problem);

}  // namespace aqueduct::core
