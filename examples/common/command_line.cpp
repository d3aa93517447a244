#include "common/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>

namespace example {

namespace {

/// CLI11 takes 010 for 8, and -1 for the largest number.
std::string no_decimal(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && (text.size() == 1 || text.front() != '0')
             ? std::string()
             : "'" + text + "' is no such number; write decimal digits, without a sign or a 0 in front";
}

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(const std::string& about) : parser_(std::make_unique<Parser>()) {
  parser_->app.description(about);
}
CommandLine::~CommandLine() = default;

void CommandLine::add_number(const std::string& name, std::uint64_t preset, const std::string& help,
                             std::uint64_t least, std::uint64_t most,
                             const std::function<void(std::uint64_t)>& take) {
  parser_->app.add_option_function<std::uint64_t>(name, take, help)
      ->check(no_decimal)
      ->check(CLI::Range(least, most))
      ->default_str(std::to_string(preset));
}

void CommandLine::numbers(const std::string& name, std::vector<std::size_t>& values, const std::string& help,
                          std::uint64_t least, std::uint64_t most, int most_values) {
  parser_->app.add_option(name, values, help)
      ->expected(1, most_values)
      ->check(no_decimal)
      ->check(CLI::Range(least, most))
      ->capture_default_str();
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& help,
                       const Check& check) {
  auto* option = parser_->app.add_option(name, value, help);
  if (!value.empty()) option->capture_default_str();
  if (check) option->check([check](const std::string& given) { return check(given); });
}

void CommandLine::choice(const std::string& name, std::string& value, const std::string& help,
                         const std::vector<std::string>& choices) {
  parser_->app.add_option(name, value, help)->check(CLI::IsMember(choices))->capture_default_str();
}

void CommandLine::flag(const std::string& name, std::optional<bool>& value, const std::string& help) {
  parser_->app.add_flag_callback(
      name, [&value] { value = true; }, help);
  parser_->app.add_flag_callback(
      "--no-" + name.substr(2), [&value] { value = false; }, "Do not");
}

void CommandLine::exclude(const std::string& one, const std::string& other) {
  parser_->app.get_option(one)->excludes(parser_->app.get_option(other));
}

void CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    std::exit(parser_->app.exit(why) == 0 ? 0 : 2);  // --help arrives here too; 2: wrong usage
  }
}

}  // namespace example
