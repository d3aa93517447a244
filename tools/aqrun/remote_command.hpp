#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace aqrun {

/// Runs a program through ssh, whose remote shell reads one text. A dead connection ends within 45 s. The ssh of a job uses a
/// shared connection of the user's, but never becomes one (ControlMaster auto): the user's other sessions would end with it.
inline constexpr const char* kSshTemplate =
    "ssh -o BatchMode=yes -o ControlMaster=no -o ServerAliveInterval=15 {host} {shell-command}";

/// How a command is run on another host: the value of --remote.
///
/// It consists of words with blanks between them. {host} anywhere in a word is the host's name. The word {command} is
/// replaced by the words of the command; {shell-command} is replaced by one word, which a shell splits into them.
class RemoteCommand {
 public:
  /// Returns why the template cannot be used instead, as readable text.
  static std::variant<RemoteCommand, std::string> parse(std::string_view text);

  /// The words to execute here, so that `command` is executed there.
  std::vector<std::string> words(const std::string& host, const std::vector<std::string>& command) const;

 private:
  std::vector<std::string> words_;
};

/// One text that a shell splits into exactly these words.
std::string quoted_for_shell(const std::vector<std::string>& words);

}  // namespace aqrun
