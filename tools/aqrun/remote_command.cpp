#include "tools/aqrun/remote_command.hpp"

#include <fmt/format.h>

#include <sstream>

namespace aqrun {
namespace {

constexpr std::string_view kCommand = "{command}";
constexpr std::string_view kShellCommand = "{shell-command}";
constexpr std::string_view kHost = "{host}";

std::string with_host(std::string word, const std::string& host) {
  for (auto at = word.find(kHost); at != std::string::npos; at = word.find(kHost, at + host.size()))
    word.replace(at, kHost.size(), host);
  return word;
}

}  // namespace

std::variant<RemoteCommand, std::string> RemoteCommand::parse(std::string_view text) {
  RemoteCommand read;
  int commands = 0;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) {
    const bool whole = word == kCommand || word == kShellCommand;
    if (!whole && (word.find(kCommand) != std::string::npos || word.find(kShellCommand) != std::string::npos))
      return fmt::format("{}: {} and {} must be words of their own", word, kCommand, kShellCommand);
    commands += whole ? 1 : 0;
    read.words_.push_back(std::move(word));
  }
  if (commands != 1) {
    return fmt::format("it must have {} once (or {}, if a shell on the host reads it), as in: {}", kCommand,
                       kShellCommand, kSshTemplate);
  }
  return read;
}

std::vector<std::string> RemoteCommand::words(const std::string& host,
                                              const std::vector<std::string>& command) const {
  std::vector<std::string> all;
  for (const std::string& word : words_) {
    if (word == kCommand) {
      all.insert(all.end(), command.begin(), command.end());
    } else {
      all.push_back(word == kShellCommand ? quoted_for_shell(command) : with_host(word, host));
    }
  }
  return all;
}

std::string quoted_for_shell(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "'" : " '";
    for (const char c : word) {
      // Inside single quotes, only the quote itself has a meaning.
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += '\'';
  }
  return text;
}

}  // namespace aqrun
