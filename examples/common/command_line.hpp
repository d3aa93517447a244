#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace example {

/// An example's options, with bounds, defaults and --help. Only one source includes CLI11,
/// which takes longer to compile than an example.
class CommandLine {
 public:
  explicit CommandLine(const std::string& about);
  ~CommandLine();

  /// `--name N`, from `least` to `most`. `value` holds the default. All values must live until `parse` returns.
  template <std::integral Number>
  void number(const std::string& name, Number& value, const std::string& help, std::uint64_t least = 0,
              std::uint64_t most = std::numeric_limits<std::int32_t>::max()) {
    add_number(name, static_cast<std::uint64_t>(value), help, least, most,
               [&value](std::uint64_t given) { value = static_cast<Number>(given); });
  }
  /// `--name N…`: one to `most_values` numbers.
  void numbers(const std::string& name, std::vector<std::size_t>& values, const std::string& help,
               std::uint64_t least, std::uint64_t most, int most_values);
  /// Returns what is wrong with a value, or an empty text.
  using Check = std::function<std::string(const std::string& value)>;
  void text(const std::string& name, std::string& value, const std::string& help,
            const Check& check = nullptr);
  void choice(const std::string& name, std::string& value, const std::string& help,
              const std::vector<std::string>& choices);
  /// `--name` and `--no-name`; `value` is unchanged if neither is given.
  void flag(const std::string& name, std::optional<bool>& value, const std::string& help);
  /// The two options may not be given together.
  void exclude(const std::string& one, const std::string& other);

  /// Ends the program for wrong arguments, with the reason on stderr, and for --help.
  void parse(int argc, char** argv);

 private:
  void add_number(const std::string& name, std::uint64_t preset, const std::string& help, std::uint64_t least,
                  std::uint64_t most, const std::function<void(std::uint64_t)>& take);

  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace example
