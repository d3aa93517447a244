#include "sim/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace aqueduct::sim {

std::string output_problem(std::string_view what, const std::string& file) {
  std::error_code ignored;
  const auto type = std::filesystem::status(file, ignored).type();
  using Type = std::filesystem::file_type;
  const bool is_special =
      type == Type::character || type == Type::fifo || type == Type::socket || type == Type::block;
  if (is_special) return {};  // who reads a pipe would see its end
  errno = 0;
  const std::ofstream out(file, std::ios::app);  // keeps what is in it
  // A link to a file that did not exist keeps the file.
  if (out && type == Type::not_found &&
      !std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored)))
    std::filesystem::remove(file, ignored);
  return out ? std::string()
             : fmt::format("the {} {} cannot be written: {}", what, file, std::strerror(errno));
}

}  // namespace aqueduct::sim
