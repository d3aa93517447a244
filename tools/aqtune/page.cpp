#include "tools/aqtune/page.hpp"

#include "core/json_reader.hpp"
#include "sim/output_file.hpp"
#include "tools/aqtune/options.hpp"
#include "tools/aqtune/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <unistd.h>

namespace aqueduct::aqtune {

void write_page(const std::string& file, const std::string& decisions_file) {
  std::error_code none;
  if (std::filesystem::is_directory(decisions_file, none))
    throw BadInput(fmt::format("--from: {} cannot be read: it is a folder", decisions_file));
  if (std::filesystem::exists(decisions_file, none) &&
      !std::filesystem::is_regular_file(decisions_file, none))
    throw BadInput(fmt::format("--from: {} is no file", decisions_file));
  std::ifstream in(decisions_file, std::ios::binary);
  if (!in) throw BadInput(fmt::format("--from: {} cannot be read: {}", decisions_file, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // Whatever machine it is of: a report may be made elsewhere.
  const core::JsonRead json = core::read_json(text);
  const auto says = [&](const char* name) {
    const core::Json* const found = json.value.find(name);
    return found != nullptr ? found->text : std::string();
  };
  const coll::TuningPlace place{says("machine"), says("conduit")};
  const coll::TuningRead read = coll::read_tuning(text, place);
  if (!read.problem.empty()) throw BadInput(fmt::format("{}: {}", decisions_file, read.problem));
  sim::OutputFile out(file);
  out.open();
  out.write(report_page_by_network(place, read.by_network));
  if (const std::string problem = out.finish(); !problem.empty())
    throw BadInput(fmt::format("--report {}: it cannot be written: {}", file, problem));
}

void check_page(const std::string& file) {
  if (file.empty()) return;
  std::error_code none;
  const bool exists = std::filesystem::exists(file, none);
  const std::string folder = std::filesystem::path(file).parent_path().string();
  const std::string& written = exists ? file : folder.empty() ? "." : folder;
  if (std::filesystem::is_directory(file, none) || access(written.c_str(), W_OK) != 0)
    throw BadInput(fmt::format("--report {}: it cannot be written", file));
}

}  // namespace aqueduct::aqtune
